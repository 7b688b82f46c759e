//! A home, a project and a safe copy of the executable, below `/var/tmp`: `/tmp` and git work trees
//! are refused. Used by the tests of the commands and of promises 1 and 2.

#![allow(dead_code)] // each of the two binaries uses a part

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use codexgate::approval::{
    self, By, Clock as _, Gate, Question, Surroundings, SystemClock, Token, Verdict, Waiting,
};
use codexgate::files::RealDisk;

pub struct Desk {
    _keep: tempfile::TempDir,
    pub top: PathBuf,
    pub project: PathBuf,
    pub home: PathBuf,
    pub executable: PathBuf,
}

/// What a run said.
#[derive(Debug)]
pub struct Said {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Desk {
    pub fn new() -> Self {
        let keep = tempfile::Builder::new()
            .prefix("codexgate-")
            .tempdir_in("/var/tmp")
            .expect("a folder");
        let top = keep.path().canonicalize().expect("it is there");
        let (project, home) = (top.join("project"), top.join("home"));
        fs::create_dir_all(project.join(".git")).expect("folders");
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").expect("file");
        fs::create_dir_all(home.join(".codex")).expect("folders");
        fs::create_dir(top.join("bin")).expect("folder");
        let executable = top.join("bin/codexgate");
        let built = Path::new(env!("CARGO_BIN_EXE_codexgate"));
        if fs::hard_link(built, &executable).is_err() {
            fs::copy(built, &executable).expect("copies");
        }
        Self {
            _keep: keep,
            top,
            project,
            home,
            executable,
        }
    }

    pub fn state(&self) -> PathBuf {
        self.home.join(".local/state/codexgate")
    }

    /// Writes a file of the project.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project.join(name);
        fs::create_dir_all(path.parent().expect("below")).expect("folders");
        fs::write(&path, text).expect("file");
        path
    }

    /// A script in a folder of PATH.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.top.join("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("mode");
        path
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", format!("{}/bin:/usr/bin:/bin", self.top.display()))
            .current_dir(&self.project);
        command
    }

    pub fn run<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Said {
        let mut command = self.command();
        command.args(args).stdin(Stdio::null());
        command.output().expect("it runs").into()
    }

    /// Proposes and returns the token.
    pub fn propose<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> String {
        let mut command = self.command();
        command.args(["apply", "--format", "json"]).args(args);
        let said: Said = command.output().expect("it runs").into();
        assert_eq!(said.code, Some(0), "{said:?}");
        let value: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
        value["token"].as_str().expect("a token").to_owned()
    }

    pub fn confirm(&self, token: &str) -> Said {
        self.run(["apply", "--confirm", token])
    }

    pub fn around(&self) -> Surroundings {
        Surroundings {
            state: self.state(),
            codex_home: Some(self.home.join(".codex")),
            executable: self.executable.clone(),
            cwd: self.project.clone(),
            project: self.project.clone(),
            writable: vec![PathBuf::from("/tmp"), self.project.clone()],
            user_policy: Some(self.home.join(".config/codexgate/config.toml")),
            system_policy: PathBuf::from("/etc/codexgate/config.toml"),
        }
    }

    pub fn gate<T>(&self, job: impl FnOnce(&mut Gate<'_>, &Surroundings) -> T) -> T {
        let around = self.around();
        let mut disk = RealDisk;
        let mut gate = Gate::open(&around, &SystemClock, &mut disk).expect("opens");
        job(&mut gate, &around)
    }

    pub fn waiting(&self, token: &str) -> Waiting {
        let token = Token::parse(token).expect("a token");
        self.gate(|gate, _| approval::load(gate, &token))
            .expect("it waits")
    }

    /// What a person's yes at the terminal does.
    pub fn approve(&self, token: &str) {
        let waiting = self.waiting(token);
        let now = SystemClock.now();
        let question = Question::ask(&waiting, By::Terminal("test".into()), now, u64::MAX);
        let Verdict::Approved(approved) = question.read_terminal(Some(true), now) else {
            panic!("it is a yes in time");
        };
        self.gate(|gate, _| approved.grant(gate)).expect("grants");
    }

    pub fn journal(&self) -> String {
        let said = self.run(["journal", "list"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        said.stdout
    }

    pub fn verified(&self) {
        let said = self.run(["journal", "verify"]);
        assert_eq!(said.code, Some(0), "{said:?}");
    }

    /// How many lines the command of a test has left in `ran`.
    pub fn runs(&self) -> usize {
        let text = fs::read_to_string(self.project.join("ran")).unwrap_or_default();
        text.lines().count()
    }

    /// Runs in a pseudo-terminal, and types `answer` once `prompt` is on the screen.
    pub fn in_terminal(&self, args: &[&str], before: &str, prompt: &str, answer: &str) -> Said {
        use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
        let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&main).expect("granted");
        unlockpt(&main).expect("unlocked");
        let name = ptsname(&main, Vec::new()).expect("a name");
        let mut main = File::from(main);
        let name = name.into_string().expect("UTF-8");
        let open = || {
            File::options()
                .read(true)
                .write(true)
                .open(&name)
                .expect("opens")
        };
        let side = open();
        main.write_all(before.as_bytes()).expect("types");
        let mut command = self.command();
        command.env("TERM", "xterm").args(args);
        command.stdin(open()).stdout(open()).stderr(open());
        let mut child = command.spawn().expect("it runs");
        // The handles of the child's side that are ours would keep the terminal open.
        drop(command);
        drop(side);
        let (mut seen, mut typed, mut buffer) = (Vec::new(), false, [0_u8; 4096]);
        // The terminal ends (EIO) with the last process that has it open.
        while let Ok(read @ 1..) = main.read(&mut buffer) {
            seen.extend_from_slice(&buffer[..read]);
            if !typed && String::from_utf8_lossy(&seen).contains(prompt) {
                main.write_all(answer.as_bytes()).expect("types");
                typed = true;
            }
        }
        Said {
            code: child.wait().expect("it ends").code(),
            stdout: String::from_utf8_lossy(&seen).into_owned(),
            stderr: String::new(),
        }
    }
}
