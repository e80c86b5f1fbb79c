//! Recorded answers, served as they were: the check that a client understands the host and not only our idea of it.
