//! A child process that never outlives the demo: it is told to end when its handle is dropped, whatever went wrong.
//!
//! Told, not killed: a platform is to finish what it writes. Only one that does not listen is killed. If the demo itself
//! is killed with SIGKILL, nobody is there to tell its children.

use super::signals::Signals;
use rustix::process::{Pid, Signal, kill_process};
use std::io;
use std::process::{Child, ChildStdout, Command, ExitStatus};
use std::time::{Duration, Instant};

/// How often a child is asked whether it is still there.
const TICK: Duration = Duration::from_millis(10);
/// How long a child may take to end when it is told to.
const FAREWELL: Duration = Duration::from_secs(10);

/// A child process.
#[derive(Debug)]
pub(super) struct Process(Child);

impl Process {
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }

    /// Its standard output, if that is a pipe and nobody has it yet.
    pub(super) fn output(&mut self) -> Option<ChildStdout> {
        self.0.stdout.take()
    }

    /// Waits until it ends by itself. A signal ends the wait with an error.
    pub(super) fn wait(&mut self, signals: &Signals) -> io::Result<ExitStatus> {
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            signals.check()?;
            std::thread::sleep(TICK);
        }
    }

    /// Tells it to end, and waits until it has.
    pub(super) fn stop(mut self) -> io::Result<ExitStatus> {
        self.end(FAREWELL)
    }

    fn end(&mut self, farewell: Duration) -> io::Result<ExitStatus> {
        if let Some(status) = self.0.try_wait()? {
            return Ok(status);
        }
        // It may have ended in between.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let told = Instant::now();
        while told.elapsed() < farewell {
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
        // Only then does it not listen.
        child.output().unwrap().read_exact(&mut [0]).unwrap();
        assert_eq!(child.end(Duration::from_millis(50)).unwrap().signal(), Some(9));
    }
}
