//! Reports, tables and figures as files of an output folder.

use langevin_page::figure::Figure;
use langevin_page::report::{Report, Table};
use langevin_run::output::{Folder, OutputError};
use thiserror::Error;

use crate::png::{PngError, svg_to_png};

/// Width of images in pixels: 17 cm at 300 dpi.
const PNG_WIDTH: u32 = 2008;

/// Why a report could not be written.
#[derive(Debug, Error)]
pub enum FilesError {
    /// The output folder did not take a file.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A figure cannot be drawn.
    #[error("figure {id}: {source}")]
    Figure {
        /// Id of the figure.
        id: String,
        /// Why.
        source: PngError,
    },
}

/// Writes `tables/*.csv`, `figures/*.svg|png`, `report.md` and `report.html`.
pub fn write_report(
    folder: &Folder,
    report: &Report,
    figures: &[Figure],
    long_tables: &[Table],
) -> Result<(), FilesError> {
    for table in report.tables().chain(long_tables) {
        let name = format!("tables/{}.csv", table.id);
        folder.write(&name, table.to_csv().as_bytes())?;
    }
    for figure in figures {
        let (id, svg) = (figure.id.clone(), figure.to_svg());
        folder.write(&format!("figures/{id}.svg"), svg.as_bytes())?;
        let png = svg_to_png(&svg, PNG_WIDTH);
        let png = png.map_err(|source| FilesError::Figure {
            id: id.clone(),
            source,
        })?;
        folder.write(&format!("figures/{id}.png"), &png)?;
    }
    folder.write("report.md", report.to_markdown().as_bytes())?;
    folder.write("report.html", report.to_html().as_bytes())?;
    Ok(())
}
