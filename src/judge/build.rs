//! The builds for judging: of the tree or of candidates, each in an overlay.

use super::wrong_targets::{WrongTargets, without_others, wrong_targets};
use super::{Judge, compiler_stopped, does_not_compile};
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::fuzz::build::cache;
use crate::fuzz::build::fuzz_binary::{Builder, Built, Counts};
use crate::fuzz::build::overlay::Overlay;
use crate::fuzz::build::standalone::Standalone;
use crate::fuzz::build::static_library::Checks;
use crate::platform::process::Interrupt;
use crate::platform::workspace::user_cache;
use crate::project::FunctionPlan;
use crate::symbol::SymbolName;
use std::path::{Path, PathBuf};

/// A build that is prepared here and runs later: on another thread, in one of several places.
#[derive(Debug)]
pub struct LaterBuild<'p> {
    builder: Builder<'p>,
    source: PathBuf,
    /// The overlay of place 0.
    overlay: PathBuf,
    symbol: SymbolName,
    replaced: Vec<(PathBuf, String)>,
}

impl LaterBuild<'_> {
    /// Builds in the place with this number. Each place has a separate overlay and target directory, so its
    /// first build takes long.
    pub fn run(mut self, place: usize, interrupt: &Interrupt) -> Result<Built> {
        if place > 0 {
            self.builder.target_dir = self.builder.shared_dir.join(format!("place-{place}"));
            self.overlay = self.overlay.with_extension(format!("{place}"));
        }
        let asked = [&self.symbol];
        without_others(&self.overlay, &asked, || {
            let (target, replaced) = (&self.builder.target_dir, &self.replaced);
            let overlay = Overlay::sync(&self.source, &self.overlay, target, &asked, replaced)?;
            self.builder.build(&overlay, interrupt)
        })
    }
}

impl<'p> Judge<'p> {
    /// Prepares a build for one function like [`Judge::build`], to be run later. It has a separate binary.
    ///
    /// # Errors
    /// `Environment` if a tool is missing.
    pub fn build_later(
        &self,
        name: &str,
        symbol: &SymbolName,
        replaced: Vec<(PathBuf, String)>,
    ) -> Result<LaterBuild<'p>> {
        let workspace = &self.project.workspace;
        let builder = self.builder(&workspace.cache().join(name), Counts::Edges)?;
        let (source, overlay, symbol) = (self.project.rust_dir(), workspace.overlay(), symbol.clone());
        let replaced = self.with_c_files(&replaced)?;
        Ok(LaterBuild { builder, source, overlay, symbol, replaced })
    }

    /// Builds the tree with the fuzz targets of some functions.
    ///
    /// # Errors
    /// `Build` if the tree does not compile.
    pub fn build(&self, targets: &[&FunctionPlan]) -> Result<PathBuf> {
        self.build_beside("bin", targets, &[])
    }

    /// Like [`Judge::build`], and reports the build as an event.
    pub fn harnesses(&self, targets: &[&FunctionPlan], reporter: &mut dyn Reporter) -> Result<PathBuf> {
        self.try_harnesses(targets, reporter)?.map_err(|wrong| wrong.error)
    }

    /// Like [`Judge::harnesses`], and tells fuzz targets that do not compile from other errors.
    pub fn try_harnesses(
        &self,
        targets: &[&FunctionPlan],
        reporter: &mut dyn Reporter,
    ) -> Result<std::result::Result<PathBuf, WrongTargets>> {
        reporter.event(self.building("the harnesses")?);
        let built = self.try_build("bin", targets, &[])?;
        let names = wrong_targets(&built, &self.project.workspace.overlay());
        let binary = match (self.binary(built), names) {
            (Err(error), Some(names)) => return Ok(Err(WrongTargets { names, error })),
            (binary, _) => binary?,
        };
        reporter.event(Event::StepFinished { message: "harnesses built".into() });
        Ok(Ok(binary))
    }

    /// Like [`Judge::build`], with some files replaced, and with a separate binary, so that the tree's binary stays.
    /// It uses the same overlay, because another one would compile the harnesses again, which are large compared
    /// with the replaced files.
    pub fn build_beside(
        &self,
        name: &str,
        targets: &[&FunctionPlan],
        replaced: &[(PathBuf, String)],
    ) -> Result<PathBuf> {
        self.binary(self.try_build(name, targets, replaced)?)
    }

    /// Like [`Judge::build_beside`], but returns the errors of replaced files that do not compile.
    pub fn try_build(
        &self,
        name: &str,
        targets: &[&FunctionPlan],
        replaced: &[(PathBuf, String)],
    ) -> Result<Built> {
        let workspace = &self.project.workspace;
        let bin_dir = workspace.cache().join(name);
        self.build_in(&workspace.overlay(), &bin_dir, targets, replaced, Counts::Edges)
    }

    /// Builds the tree, with some files replaced, for replays that count the executions of C, if `c`, and of the port,
    /// if `port`; otherwise the port is compiled as it ships. The binary comes into the folder `bin` of the cache.
    pub fn build_counting(
        &self,
        bin: &str,
        targets: &[&FunctionPlan],
        (c, port): (bool, bool),
        replaced: &[(PathBuf, String)],
    ) -> Result<Built> {
        let bin_dir = self.project.workspace.cache().join(bin);
        self.build_in(&self.counting_overlay(), &bin_dir, targets, replaced, Counts::Sources { c, port })
    }

    /// The overlay of [`Judge::build_counting`].
    pub fn counting_overlay(&self) -> PathBuf {
        self.project.workspace.cache().join("coverage/overlay")
    }

    pub(super) fn binary(&self, built: Built) -> Result<PathBuf> {
        match built {
            Built::Binary(path) => Ok(path),
            Built::Errors(errors) => Err(does_not_compile(self.project, &errors)),
            Built::Stopped(reason) => Err(compiler_stopped(reason)),
        }
    }

    fn build_in(
        &self,
        overlay: &Path,
        bin_dir: &Path,
        targets: &[&FunctionPlan],
        replaced: &[(PathBuf, String)],
        counts: Counts,
    ) -> Result<Built> {
        let builder = self.builder(bin_dir, counts)?;
        let symbols: Vec<&SymbolName> = targets.iter().map(|planned| &planned.function.name).collect();
        without_others(overlay, &symbols, || {
            builder.build(&self.overlay((overlay, &builder), &symbols, replaced)?, self.interrupt)
        })
    }

    /// Whether the port in the tree links without the C original.
    pub fn standalone(&self) -> Result<Standalone> {
        let workspace = &self.project.workspace;
        let builder = self.builder(&workspace.cache().join("bin"), Counts::Edges)?;
        let overlay = self.overlay((&workspace.overlay(), &builder), &[], &[])?;
        builder.standalone(&overlay, self.interrupt)
    }

    /// Builds the port in the tree, with some files replaced, as a static library at `to`; `overlay` has the copy
    /// of its crate. Returns the linker arguments that must follow it.
    pub fn static_library(
        &self,
        (overlay, checks): (&Path, Checks),
        to: &Path,
        replaced: &[(PathBuf, String)],
    ) -> Result<Vec<String>> {
        let builder = self.builder(&self.project.workspace.cache().join("bin"), Counts::Edges)?;
        let overlay = self.overlay((overlay, &builder), &[], replaced)?;
        builder.static_library((&overlay, checks), to, self.interrupt)
    }

    /// The overlay of a build of the tree, in this folder.
    fn overlay(
        &self,
        (dir, builder): (&Path, &Builder),
        symbols: &[&SymbolName],
        replaced: &[(PathBuf, String)],
    ) -> Result<Overlay> {
        let with_c_files = self.with_c_files(replaced)?;
        let rust = self.project.rust_dir();
        let overlay = Overlay::sync(&rust, dir, &builder.target_dir, symbols, &with_c_files)?;
        self.remember_build(dir, replaced)?;
        Ok(overlay)
    }

    /// Adds the hash of the C files to the list of units. Cargo compares only times, so it would miss an edited file that is
    /// older than the last build, as archives and `cp -p` leave it.
    fn with_c_files(&self, replaced: &[(PathBuf, String)]) -> Result<Vec<(PathBuf, String)>> {
        let mut all = replaced.to_vec();
        let list = Path::new("c_units.rs");
        if !all.iter().any(|(path, _)| path == list) {
            all.push((list.to_owned(), fs_err::read_to_string(self.project.rust_dir().join(list))?));
        }
        let hash = self.project.c_files.hash_now(self.project.root()?);
        let own = all.iter_mut().filter(|(path, _)| path == list);
        own.for_each(|(_, text)| *text += &format!("// The C files: {hash}\n"));
        Ok(all)
    }

    fn builder(&self, bin_dir: &Path, counts: Counts) -> Result<Builder<'p>> {
        let workspace = &self.project.workspace;
        let target_dir = cache::target_dir(&workspace.cache())?;
        let toolchain = self.project.toolchain(self.interrupt)?;
        let usable = user_cache().filter(|dir| fs_err::create_dir_all(dir).is_ok());
        Ok(Builder {
            toolchain,
            root: workspace.root(),
            shared_dir: target_dir.clone(),
            target_dir,
            user_dir: usable.unwrap_or_else(|| workspace.cache().join("user")),
            bin_dir: bin_dir.to_owned(),
            counts,
            optimise: self.project.config.fuzz.optimise,
        })
    }
}
