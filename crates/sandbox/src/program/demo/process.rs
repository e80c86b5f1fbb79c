//! A child process that never outlives the demo: dropping its handle asks it to terminate.
//!
//! It gets SIGTERM first, so that a platform can finish its writes, and is killed only if it does not react. If the
//! demo itself is killed with SIGKILL, its children keep running.

use super::signals::Signals;
use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::process::{Child, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How often to check whether a child still runs.
const TICK: Duration = Duration::from_millis(10);
/// How long a child may take to terminate.
const FAREWELL: Duration = Duration::from_secs(10);

/// A child process.
#[derive(Debug)]
pub(super) struct Process(Child);

impl Process {
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }

    /// Its standard output, if that is a pipe and has not been taken.
    pub(super) fn output(&mut self) -> Option<ChildStdout> {
        self.0.stdout.take()
    }

    /// Waits until it exits. A signal ends the wait with an error.
    pub(super) fn wait(&mut self, signals: &Signals) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            signals.check()?;
            std::thread::sleep(TICK);
        }
    }

    /// Asks it to terminate, and waits until it has.
    pub(super) fn stop(mut self) -> io::Result<ExitStatus> {
        self.end(FAREWELL)
    }

    fn end(&mut self, farewell: Duration) -> io::Result<ExitStatus> {
        if let Some(status) = self.0.try_wait()? {
            return Ok(status);
        }
        // It may have exited in the meantime.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let asked = Instant::now();
        while asked.elapsed() < farewell {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            std::thread::sleep(TICK);
        }
        self.0.kill()?;
        self.0.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.end(FAREWELL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::Stdio;

    #[test]
    fn one_that_does_not_listen_is_killed() {
        let script = "trap '' TERM; echo; while :; do sleep 0.05; done";
        let mut child =
            Process::start(Command::new("sh").args(["-c", script]).stdout(Stdio::piped())).unwrap();
        // Only now does it ignore signals.
        child.output().unwrap().read_exact(&mut [0]).unwrap();
        assert_eq!(child.end(Duration::from_millis(50)).unwrap().signal(), Some(9));
    }
}
