"""What enters and leaves: intake, secrets, admission, erasure, export and import."""
