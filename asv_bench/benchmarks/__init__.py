"""The same programs for airspeed velocity, which follows tnp's times over its history."""
