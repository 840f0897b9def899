# Files of the Python package: mechanisms, questionnaires, CSV files of reports. The formats are described in
# docs/reference/mechanism_file.md, questionnaire_file.md and reports_file.md; what is read here has their names.

refuse <- function(...) stop(paste0(...), call. = FALSE)

KINDS <- c("rows", "randomized_response", "two_valued_columns", "circulant", "colourings", "subset_selection",
           "independent_bits", "hadamard", "projective", "hashed")

#' Read a mechanism file.
#'
#' @param path a file that `mechanism.save(path)` or `extremal design -o path` wrote.
#' @return an object of class `extremal_mechanism`: `inputs`, `outputs`, `kind`, `privacy`, `hash` and the weights.
read_mechanism <- function(path) mechanism_from(read_json(path, "extremal-mechanism"))

#' Read a questionnaire file.
#'
#' @param path a file that `questionnaire.save(path)` or `extremal questionnaire` wrote.
#' @return a named list of mechanisms, one for each question that stands alone or in a joint mechanism.
read_questionnaire <- function(path) questionnaire_from(read_json(path, "extremal-questionnaire"))

read_json <- function(path, format) {
  if (!file.exists(path)) refuse("no file at ", path)
  content <- tryCatch(jsonlite::read_json(path, simplifyVector = FALSE, bigint_as_char = TRUE),
                      error = function(e) refuse(path, " is not JSON"))
  if (!identical(content$format, format)) {
    refuse(path, " must have the format ", format, ", got ", if (is.null(content$format)) "none" else content$format)
  }
  if (!grepl("^1[.][0-9]+$", content$version)) refuse(path, " has version ", content$version, "; version 1 is read here")
  content
}

mechanism_from <- function(content) {
  kind <- content$weights$kind
  if (!kind %in% KINDS) {
    refuse("mechanisms of the kind ", kind, " are not read in R: estimate in Python, extremal estimate --json")
  }
  if (!is.null(content$rows_of_inputs)) {
    refuse("inputs of this mechanism share rows, so that single answers are not identified: ",
           "estimate in Python with merge=True")
  }
  structure(list(inputs = labels_from(content$inputs), outputs = content$outputs, kind = kind,
                 weights = content$weights, privacy = content$privacy, hash = content$hash),
            class = "extremal_mechanism")
}

# Labels as text, in the order of their codes: what a CSV file holds.
labels_from <- function(stored) {
  if (!is.null(names(stored)) && identical(names(stored), "range")) return(text_of_whole(seq_len(stored$range) - 1))
  vapply(stored, label_text, "")
}

label_text <- function(label) {
  if (is.list(label) && identical(names(label), "integer")) return(label$integer)
  if (is.list(label)) return(set_text(vapply(label, label_text, "")))
  if (is.logical(label)) return(if (label) "True" else "False")
  if (is.numeric(label)) return(text_of_whole(label))
  label
}

text_of_whole <- function(x) format(x, scientific = FALSE, trim = TRUE, digits = 16)

# One text for a set, whatever the order and the way it was written.
set_text <- function(members) paste(members, collapse = "\x1f")

# The members of sets as a CSV file writes them: with blanks between, or as a JSON list.
members_of <- function(reports) {
  as_list <- startsWith(reports, "[")
  found <- strsplit(reports, " ", fixed = TRUE)
  found[as_list] <- lapply(reports[as_list], function(one) {
    vapply(jsonlite::fromJSON(one, simplifyVector = FALSE), label_text, "")
  })
  found
}

#' Read a column of reports from a CSV file.
#'
#' The note beside the file, `NAME.csv.extremal.json`, must name the mechanism's hash for the column. Base R has no
#' SHA-256, so that the note is compared with the mechanism and not with the bytes of the data; `extremal estimate`
#' does both.
#'
#' @param path a CSV file that `extremal privatize` wrote.
#' @param mechanism what made the reports, from `read_mechanism`.
#' @param column the column of reports; the one that the note names when it names one only.
#' @return a data frame: the file, as text, with the attributes `column` and `mechanism`.
read_reports <- function(path, mechanism, column = NULL) {
  beside <- paste0(path, ".extremal.json")
  if (!file.exists(beside)) refuse("no note at ", beside, ": was the file written by extremal privatize?")
  hashes <- jsonlite::read_json(beside)$columns
  if (is.null(column)) {
    if (length(hashes) != 1) refuse("column must be one of ", paste(names(hashes), collapse = ", "))
    column <- names(hashes)
  }
  if (is.null(hashes[[column]])) refuse("the note of ", path, " does not say that column ", column, " was randomized")
  if (!identical(hashes[[column]], mechanism$hash)) {
    refuse("column ", column, " was made by another mechanism: hash ", substr(hashes[[column]], 1, 12), ", not ",
           substr(mechanism$hash, 1, 12))
  }
  frame <- read.csv(path, colClasses = "character", check.names = FALSE, na.strings = "", encoding = "UTF-8")
  if (!column %in% names(frame)) refuse(path, " has no column ", column)
  attr(frame, "column") <- column
  attr(frame, "mechanism") <- mechanism$hash
  frame
}

print.extremal_mechanism <- function(x, ...) {
  cat(length(x$inputs), "inputs,", gsub("_", " ", x$kind), "\n")
  if (!is.null(x$privacy)) cat("privacy:", x$privacy$notion, if (!is.null(x$privacy$epsilon)) paste("epsilon", x$privacy$epsilon), "\n")
  cat("hash:", x$hash, "\n")
  invisible(x)
}
