"""What a finding is known by when its lines move."""
