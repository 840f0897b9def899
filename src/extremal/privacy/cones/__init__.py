"""What a notion admits, seen as geometry: patterns, boxes, rays, trees; no search and no solver."""
