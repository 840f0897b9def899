# Questions of one questionnaire: each has a mechanism of its own, or all are asked jointly, by random blocks with one
# coin for a block. Seen alone, a question that is asked jointly has an ordinary mechanism, (1 - coin) nu + coin R, for
# each kind (family and coin) in which it is asked; reports of several kinds are written `kind: report`.

COIN <- 2^53
LISTED_REPORTS <- 4096 # of one family: beyond, reports are sets that are never listed

questionnaire_from <- function(content) {
  joint <- content$joint
  if (!is.null(joint$records)) {
    refuse("questionnaires with skip patterns are estimated in Python: extremal questionnaire estimate")
  }
  found <- list()
  for (question in content$questions) {
    found[[question$name]] <- if (is.null(question$mechanism)) joint_question(joint, question$name) else mechanism_from(question$mechanism)
  }
  for (name in setdiff(unlist(joint$names), names(found))) found[[name]] <- joint_question(joint, name)
  found
}

joint_question <- function(joint, name) {
  j <- match(name, unlist(joint$names))
  if (is.na(j)) refuse("question ", name, " has no mechanism")
  inputs <- labels_from(joint$answers[[j]])
  families <- joint$structure$questions[[j]]
  kinds <- kinds_of(joint$structure$assignments, j)
  first <- families[[kinds$family[1]]]
  if (is.null(first$weights) && choose(first$answers, first$size) > LISTED_REPORTS) {
    return(set_question(inputs, first, kinds$coin[1]))
  }
  parts <- Map(function(family, coin) alone(families[[family]], coin), kinds$family, kinds$coin)
  shares <- kinds$weight / sum(kinds$weight)
  keys <- Map(function(place, family) {
    plain <- plain_reports(families[[family]], inputs)
    if (length(shares) == 1) plain else paste0(place, ": ", plain)
  }, seq_along(shares), kinds$family)
  structure(list(inputs = inputs, kind = "joint", weights = do.call(cbind, Map(`*`, shares, parts)),
                 keys = unlist(keys), key = joint_key(length(shares) > 1, is.null(first$weights) && first$size > 1),
                 privacy = joint$privacy, hash = NULL), class = "extremal_mechanism")
}

# The kinds in which question j is asked, in the order in which they appear.
kinds_of <- function(assignments, j) {
  found <- list()
  for (assignment in assignments) for (block in assignment$blocks) {
    at <- match(j - 1, unlist(block$questions))
    if (is.na(at)) next
    key <- paste(block$families[[at]], block$coin)
    before <- if (is.null(found[[key]])) 0 else found[[key]]$weight
    found[[key]] <- list(family = block$families[[at]] + 1, coin = as.numeric(block$coin) / COIN,
                         weight = before + as.numeric(assignment$weight) / COIN)
  }
  list(family = vapply(found, function(one) one$family, 0), coin = vapply(found, function(one) one$coin, 0),
       weight = vapply(found, function(one) one$weight, 0))
}

alone <- function(family, coin) {
  if (!is.null(family$weights)) {
    weights <- do.call(rbind, lapply(family$weights, function(row) as.numeric(unlist(row))))
    least <- apply(weights, 2, min)
    rest <- sweep(weights, 2, least)
    return(matrix((1 - coin) * least / sum(least), nrow(weights), ncol(weights), byrow = TRUE) + coin * rest / rowSums(rest))
  }
  k <- family$answers
  sets <- utils::combn(k, family$size)
  truth <- apply(sets, 2, function(members) seq_len(k) %in% members) / choose(k - 1, family$size - 1)
  (1 - coin) / ncol(sets) + coin * truth
}

plain_reports <- function(family, inputs) {
  if (!is.null(family$weights)) return(text_of_whole(seq_along(family$weights[[1]]) - 1))
  if (family$size == 1) return(inputs)
  apply(utils::combn(inputs, family$size), 2, set_text)
}

# Reports as texts, in the form of the keys.
joint_key <- function(several, sets) {
  if (!several) return(if (sets) function(reports) vapply(members_of(reports), set_text, "") else identity)
  function(reports) vapply(reports, function(one) {
    parts <- regmatches(one, regexec("^([0-9]+): (.*)$", one))[[1]]
    if (length(parts) != 3) return(NA_character_)
    paste0(parts[2], ": ", label_text(jsonlite::fromJSON(parts[3], simplifyVector = FALSE)))
  }, "", USE.NAMES = FALSE)
}

set_question <- function(inputs, family, coin) {
  inside <- round((coin + (1 - coin) * family$size / family$answers) * SCALE)
  structure(list(inputs = inputs, kind = "subset_selection", hash = NULL,
                 weights = list(rows = family$answers, size = family$size, inside = inside)), class = "extremal_mechanism")
}
