//! The outputs for a kind of file: its values, its schema, its template, its reference.

use std::io;
use std::path::Path;

use super::declare::{Document, Guard, Variables};
use super::decode::{Decoder, Fields};
use super::problem::{Complaint, ConfigError, Place, Problems};
use super::{read, reference, schema, template, yaml};

impl Document {
    /// The error for a file of this kind that cannot be read. The caller opens it, and reads at most
    /// [`MAX_FILE_BYTES`](read::MAX_FILE_BYTES).
    pub fn unreadable(&self, path: &Path, error: &io::Error) -> ConfigError {
        ConfigError::of_file(path, read::unreadable(self, path, error))
    }

    /// Decodes and checks the bytes of a file. `path` is its name in messages, and relative paths in the file
    /// refer to its directory. `guard` judges each value that `decode` asks for.
    ///
    /// # Errors
    /// Returns every problem of the file at once.
    pub fn decode<T>(
        &'static self,
        path: &Path,
        bytes: &[u8],
        variables: &Variables<'_>,
        guard: &Guard<'_>,
        decode: impl FnOnce(&mut Decoder<'_, '_>, &Fields) -> Option<T>,
    ) -> Result<T, ConfigError> {
        self.decode_with(path, bytes, variables, guard, |decoder, root| {
            let fields = decoder.open(self.root, root, Place::Point(0), String::new())?;
            decode(decoder, &fields)
        })
    }

    /// Decodes and checks the bytes of a file that is a list of mappings with the keys of `root`. Otherwise as
    /// [`decode`](Document::decode).
    ///
    /// # Errors
    /// Returns every problem of the file at once.
    pub fn decode_list<T>(
        &'static self,
        path: &Path,
        bytes: &[u8],
        variables: &Variables<'_>,
        guard: &Guard<'_>,
        decode: impl FnOnce(&mut Decoder<'_, '_>, Vec<Fields>) -> Option<T>,
    ) -> Result<T, ConfigError> {
        self.decode_with(path, bytes, variables, guard, |decoder, root| {
            let items = decoder.file(root)?;
            decode(decoder, items)
        })
    }

    fn decode_with<T>(
        &'static self,
        path: &Path,
        bytes: &[u8],
        variables: &Variables<'_>,
        guard: &Guard<'_>,
        decode: impl FnOnce(&mut Decoder<'_, '_>, &yaml::Node) -> Option<T>,
    ) -> Result<T, ConfigError> {
        let text = read::text(self, bytes).map_err(|complaint| ConfigError::of_file(path, complaint))?;
        let mut problems = Problems::new(text);
        let root = yaml::parse(text, &mut problems).filter(|root| !matches!(root.value, yaml::Value::Null));
        let directory = path.parent().unwrap_or(Path::new(""));
        let mut decoder =
            Decoder { problems, variables, guard, document: self, directory, now: 0, context: "" };
        let decoded = root.and_then(|root| decode(&mut decoder, &root));
        let problems = decoder.problems;
        match decoded {
            Some(decoded) if problems.is_empty() => Ok(decoded),
            _ if problems.is_empty() => {
                let complaint = Complaint::new("the file has no settings").help(self.help_empty);
                Err(ConfigError::of_file(path, complaint))
            }
            _ => Err(problems.into_error(path)),
        }
    }

    /// The JSON Schema (draft 2020-12), for editors.
    pub fn schema(&self) -> serde_json::Value {
        schema::of(self)
    }

    /// Every key as Markdown: one table for each section.
    pub fn reference(&self) -> String {
        reference::of(self)
    }

    /// A new file: required keys are active, everything else is commented out with its default. `values` replaces
    /// examples, by dotted path, and is quoted if YAML needs it.
    pub fn template(&self, values: &[(&str, &str)]) -> String {
        template::of(self, values)
    }
}
