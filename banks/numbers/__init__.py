"""What the banks' servers count: read by workers into rows of ours, which the pages show."""
