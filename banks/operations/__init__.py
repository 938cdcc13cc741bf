"""The servers' background work: read by workers into rows of ours, shown from those, and acted on through the door."""
