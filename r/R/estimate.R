#' Estimate how frequent each answer is.
#'
#' Unbiased: with f the frequencies of the reports, E f = t(Q) p, and the estimate is L f with L t(Q) = I. The variance
#' of a report's contribution is the larger of the fitted and the seen one, as in the Python package; weights enter
#' through their squares (Kish).
#'
#' @param reports a character vector of reports, or a data frame from `read_reports`.
#' @param mechanism what made them, from `read_mechanism` or an entry of `read_questionnaire`.
#' @param weights positive survey weights, one for each report; NULL: all alike.
#' @param missing "refuse", or "drop": leave out reports that are NA.
#' @return an object of class `extremal_estimate`; `coef`, `vcov`, `nobs`, `as.data.frame` and `print` read it.
#' @examples
#' \dontrun{
#' m <- read_mechanism("income.json")
#' estimate_frequencies(read_reports("reports.csv", m), m)
#' }
estimate_frequencies <- function(reports, mechanism, weights = NULL, missing = c("refuse", "drop")) {
  missing <- match.arg(missing)
  if (!inherits(mechanism, "extremal_mechanism")) refuse("mechanism must come from read_mechanism")
  if (is.data.frame(reports)) {
    if (!identical(attr(reports, "mechanism"), mechanism$hash)) refuse("these reports were read for another mechanism")
    reports <- reports[[attr(reports, "column")]]
  }
  if (is.list(reports)) refuse("reports must be a vector: sets are written as in a CSV file")
  if (is.logical(reports)) reports <- ifelse(reports, "True", "False")
  reports <- if (is.numeric(reports)) ifelse(is.na(reports), NA, text_of_whole(reports)) else as.character(reports)
  weighted <- !is.null(weights)
  if (!weighted) weights <- rep(1, length(reports))
  if (length(weights) != length(reports)) refuse("weights must have an entry for each of the ", length(reports), " reports")
  gone <- is.na(reports)
  if (any(gone) && missing == "refuse") refuse(sum(gone), " reports are missing: missing = \"drop\" leaves them out")
  reports <- reports[!gone]
  weights <- weights[!gone]
  if (anyNA(weights) || any(!is.finite(weights)) || any(weights <= 0)) refuse("weights must be positive and finite")
  if (length(reports) < 2) refuse("there must be at least two reports, got ", length(reports))
  fit(reports, mechanism, weights, weighted, sum(gone))
}

fit <- function(reports, mechanism, weights, weighted, dropped) {
  channel <- channel_of(mechanism)
  s <- channel$statistic(reports, weights / sum(weights))
  squares <- if (weighted) channel$statistic(reports, weights^2 / sum(weights^2)) else s
  n <- sum(weights)^2 / sum(weights^2)
  estimate <- channel$apply(s)
  plausible <- project_onto_simplex(estimate)
  spread <- if (weighted) project_onto_simplex(channel$apply(squares)) else plausible
  unit <- pmax(channel$fitted(plausible, spread), channel$seen(squares, estimate), 0)
  fitted <- channel$covariance(plausible, spread) / n
  scale <- ifelse(diag(fitted) > 0, sqrt(unit / n / diag(fitted)), 1)
  structure(list(labels = mechanism$inputs, estimate = estimate, standard_error = sqrt(unit / n),
                 covariance = fitted * outer(scale, scale), n = length(reports), effective_n = n, dropped = dropped),
            class = "extremal_estimate")
}

#' Estimate every question of a questionnaire.
#'
#' @param frame a data frame with a column of reports for each question; NA where a question was not asked.
#' @param questionnaire from `read_questionnaire`.
#' @param weights positive survey weights, one for each row.
#' @return a named list of estimates.
estimate_questionnaire <- function(frame, questionnaire, weights = NULL) {
  absent <- setdiff(names(questionnaire), names(frame))
  if (length(absent)) refuse("the data have no column ", paste(absent, collapse = ", "))
  lapply(stats::setNames(nm = names(questionnaire)), function(name) {
    estimate_frequencies(frame[[name]], questionnaire[[name]], weights, missing = "drop")
  })
}

# The nearest point with entries of at least 0 that sum to 1.
project_onto_simplex <- function(v) {
  ordered <- sort(v, decreasing = TRUE)
  level <- (cumsum(ordered) - 1) / seq_along(ordered)
  pmax(v - level[max(which(ordered > level))], 0)
}

coef.extremal_estimate <- function(object, ...) stats::setNames(object$estimate, object$labels)

vcov.extremal_estimate <- function(object, ...) {
  matrix(object$covariance, length(object$labels), dimnames = list(object$labels, object$labels))
}

nobs.extremal_estimate <- function(object, ...) object$n

as.data.frame.extremal_estimate <- function(x, ...) {
  data.frame(label = x$labels, estimate = x$estimate, standard_error = x$standard_error)
}

print.extremal_estimate <- function(x, digits = 4, ...) {
  cat("Shares of", length(x$labels), "answers from", x$n, "randomized reports\n")
  if (x$dropped) cat(x$dropped, "missing reports left out\n")
  print(as.data.frame(x), digits = digits, row.names = FALSE)
  invisible(x)
}
