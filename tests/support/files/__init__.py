"""Containers and files as strangers, neighbours and interruptions leave them."""
