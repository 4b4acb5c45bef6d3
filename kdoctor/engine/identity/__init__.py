"""Line-independent identity of findings, for baselines and fingerprints."""
