"""Reports → how often each occurs: from containers, counts, engines and files, and how people were sampled."""
