"""A second checker of certificates, written from the page on proofs alone: it shares no line with the kernel."""
