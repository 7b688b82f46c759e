//! The hook for `pre-commit`, run by the real one on a repository of its own.
//!
//! It is installed below target/ when it is not there yet. Without Python or the registry the test
//! says so and passes; with `CI=true` that is a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The version that was tried.
const PRE_COMMIT: &str = "pre-commit==4.7.0";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The real `pre-commit`, or why there is none.
fn program() -> Result<PathBuf, String> {
    let venv = root().join("target/pre-commit");
    let program = venv.join("bin/pre-commit");
    if !program.is_file() {
        done(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        let pip = venv.join("bin/pip");
        done(Command::new(pip).args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            PRE_COMMIT,
        ]))?;
    }
    done(Command::new(&program).arg("--version"))?;
    Ok(program)
}

fn done(command: &mut Command) -> Result<Output, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{stderr}", output.status))
}

/// A repository of git, and the `pre-commit` that works in it.
struct Repository<'a> {
    folder: PathBuf,
    home: PathBuf,
    program: &'a Path,
}

impl Repository<'_> {
    fn command(&self, program: &Path) -> Command {
        let binary = Path::new(env!("CARGO_BIN_EXE_codexgate"));
        let mut folders = vec![binary.parent().expect("a folder").to_path_buf()];
        folders.extend(self.program.parent().map(Path::to_path_buf));
        folders.extend(std::env::split_paths(
            &std::env::var_os("PATH").unwrap_or_default(),
        ));
        let mut command = Command::new(program);
        command
            .current_dir(&self.folder)
            .env_clear()
            .env("PATH", std::env::join_paths(folders).expect("plain paths"))
            .env("HOME", &self.home)
            .env("PRE_COMMIT_HOME", self.home.join("cache"))
            .env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "a")
                .env(format!("GIT_{who}_EMAIL"), "a@example.com");
        }
        command
    }

    fn git(&self, args: &[&str]) -> Output {
        let mut command = self.command(Path::new("git"));
        command.args(args).output().expect("git is there")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().expect("below")).expect("folders");
        std::fs::write(path, text).expect("a file");
    }

    fn commit(&self) -> (bool, String) {
        assert!(self.git(&["add", "-A"]).status.success());
        let output = self.git(&["commit", "-qm", "x"]);
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.success(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    }
}

#[test]
fn a_commit_that_opens_the_sandbox_is_blocked() {
    let program = match program() {
        Ok(program) => program,
        Err(why) => {
            let in_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
            assert!(!in_ci, "{why}");
            println!("skipped, since pre-commit cannot be installed: {why}");
            return;
        }
    };
    let top = tempfile::tempdir().expect("a folder");
    let repository = |name: &str| {
        let repository = Repository {
            folder: top.path().join(name),
            home: top.path().join("home"),
            program: &program,
        };
        std::fs::create_dir_all(&repository.folder).expect("a folder");
        std::fs::create_dir_all(&repository.home).expect("a folder");
        assert!(repository.git(&["init", "-q"]).status.success());
        repository
    };

    // The hook as it is published: a repository with the file at its top.
    let hook = repository("hook");
    let text = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).expect("it is there");
    hook.write(".pre-commit-hooks.yaml", &text);
    assert!(hook.commit().0);
    let head = hook.git(&["rev-parse", "HEAD"]).stdout;
    let head = String::from_utf8_lossy(&head).trim().to_owned();

    let project = repository("project");
    project.write(
        ".pre-commit-config.yaml",
        &format!(
            "repos:\n- repo: {}\n  rev: {head}\n  hooks:\n  - id: codexgate-lint\n",
            hook.folder.display()
        ),
    );
    let mut install = project.command(&program);
    done(install.arg("install")).expect("the hook goes in");

    project.write("notes.toml", "sandbox_mode = \"danger-full-access\"\n");
    project.write(".codex/config.toml", "model = \"x\"\n");
    let (is_committed, text) = project.commit();
    assert!(is_committed, "{text}");
    assert!(
        text.contains("codexgate lint") && text.contains("Passed"),
        "{text}"
    );

    project.write(
        ".codex/config.toml",
        "sandbox_mode = \"danger-full-access\"\n",
    );
    let (is_committed, text) = project.commit();
    assert!(!is_committed, "{text}");
    assert!(text.contains("error[danger-full-access]"), "{text}");
    assert!(text.contains(".codex/config.toml:1:16"), "{text}");

    project.write("sub/.codex/hooks.json", "{,}\n");
    project.write(".codex/config.toml", "model = \"x\"\n");
    let (is_committed, text) = project.commit();
    assert!(!is_committed && text.contains("error[syntax]"), "{text}");
}
