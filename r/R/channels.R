# A mechanism from the analyst's side. Reports are summed up in a statistic s, linear in the shares p of the answers:
#   listed   s = f, the shares of the reports; E f = t(Q) p; an inverse L with L t(Q) = I makes L f unbiased.
#   holding  s = t, the share of reports that hold each answer; E t = b + (a - b) p, a for the own answer, b for others.
# The formulas are those of the Python package (extremal.estimate.channels), so that numbers agree to rounding.

SCALE <- 2^62
HASH_PRIME <- 2^21 - 9
WORST_CONDITION <- 1e12 # beyond it a matrix counts as singular: entries carry rounding of 1e-16

channel_of <- function(mechanism) {
  w <- mechanism$weights
  switch(mechanism$kind,
    rows = dense_channel(mechanism, rows_matrix(w)),
    randomized_response = response_channel(mechanism),
    two_valued_columns = dense_channel(mechanism, two_valued_matrix(w)),
    circulant = dense_channel(mechanism, circulant_matrix(w)),
    colourings = dense_channel(mechanism, colourings_matrix(w)),
    hadamard = chosen_channel(mechanism, hadamard_rule(w)),
    projective = chosen_channel(mechanism, projective_rule(w)),
    subset_selection = subset_channel(mechanism),
    independent_bits = bits_channel(mechanism),
    hashed = hash_channel(mechanism),
    joint = dense_channel(mechanism, mechanism$weights)
  )
}

probability <- function(weight) as.numeric(weight) / SCALE

# -- matrices of listed mechanisms

rows_matrix <- function(w) do.call(rbind, lapply(w$rows, function(row) probability(unlist(row))))

two_valued_matrix <- function(w) {
  pairs <- do.call(rbind, lapply(w$weights, function(pair) probability(unlist(pair))))
  columns <- lapply(w$columns, function(column) {
    column <- as.numeric(unlist(column))
    pair <- pairs[column[1] + 1, ]
    values <- rep(pair[1], w$rows)
    edges <- matrix(column[-1], nrow = 2)
    for (i in seq_len(ncol(edges))) values[(edges[1, i] + 1):edges[2, i]] <- pair[2]
    values
  })
  do.call(cbind, columns)
}

circulant_matrix <- function(w) {
  first <- unlist(lapply(w$runs, function(run) rep(probability(run[[1]]), as.numeric(run[[2]]))))
  r <- length(first)
  outer(seq_len(r), seq_len(r), function(x, y) first[(x - y) %% r + 1])
}

colourings_matrix <- function(w) {
  alphabet <- strsplit("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_", "")[[1]]
  parts <- Map(function(pair, text) {
    digits <- match(strsplit(text, "")[[1]], alphabet) - 1
    if (length(digits) == 2 * w$rows) digits <- 64 * digits[c(TRUE, FALSE)] + digits[c(FALSE, TRUE)]
    pair <- probability(unlist(pair))
    classes <- max(digits) + 1
    values <- matrix(pair[1], w$rows, classes)
    values[cbind(seq_len(w$rows), digits + 1)] <- pair[2]
    values
  }, w$weights, w$colours)
  do.call(cbind, parts)
}

# -- rules: input x favours a set of reports

hadamard_rule <- function(w) {
  x <- seq_len(w$rows) - 1
  y <- seq_len(w$blocks * w$width) - 1
  same_block <- outer(x %% w$blocks, y %/% w$width, "==")
  even <- outer(x %/% w$blocks + 1, y %% w$width, function(a, b) parity(bitwAnd(a, b)) == 0)
  size <- w$width / 2
  list(inside = same_block & even, block = same_block, blocks = w$blocks, size = size,
       shared = if (w$blocks > 1) 0 else 1 / 2, within = 1 / 2)
}

parity <- function(n) {
  for (shift in c(16, 8, 4, 2, 1)) n <- bitwXor(n, bitwShiftR(n, shift))
  bitwAnd(n, 1)
}

projective_rule <- function(w) {
  q <- w$order
  t <- w$coordinates
  points <- function(j) (q^j - 1) / (q - 1)
  m <- points(t)
  starts <- points(seq_len(t) - 1)
  numbers <- seq_len(m) - 1
  free <- findInterval(numbers, starts) - 1
  vectors <- numbers - starts[free + 1] + q^free
  digits <- sapply(seq_len(t) - 1, function(j) vectors %/% q^j %% q)
  inside <- (tcrossprod(digits[seq_len(w$rows), , drop = FALSE], digits) %% q) == 0
  list(inside = inside, block = NULL, blocks = 1, size = points(t - 1), shared = points(t - 2) / points(t - 1))
}

chosen_channel <- function(mechanism, rule) {
  a <- probability(mechanism$weights$inside)
  m <- ncol(rule$inside)
  low <- (1 - a) / (m - rule$size)
  rise <- a / rule$size - low
  other <- low * rule$size + rise * rule$shared * rule$size
  between <- 0
  constant <- within <- other
  if (!is.null(rule$block)) {
    constant <- within <- low * rule$size + rise * rule$size / 2
    if (rule$blocks > 1) { # a report's block tells of the block of the truth, apart from the half of it
      width <- m / rule$blocks
      outside <- low * rule$size
      between <- (within - outside) / (a + low * rule$size - low * width)
      constant <- outside - between * low * width
    }
  }
  inverse <- rule$inside - constant
  if (between != 0) inverse <- inverse - between * rule$block
  listed_channel(mechanism, low + rise * rule$inside, inverse / (a - within))
}

# -- listed reports

dense_channel <- function(mechanism, q) listed_channel(mechanism, q, left_inverse(q))

response_channel <- function(mechanism) {
  r <- mechanism$weights$rows
  low <- probability(mechanism$weights$low)
  step <- probability(mechanism$weights$high) - low
  q <- matrix(low, r, r) + diag(step, r)
  listed_channel(mechanism, q, (diag(r) - low) / step)
}

# Generalized least squares weighted for equally frequent answers; the inverse where q is square.
left_inverse <- function(q) {
  if (nrow(q) > ncol(q)) not_identified()
  if (nrow(q) == ncol(q)) {
    inverse <- tryCatch(solve(t(q)), error = function(e) not_identified())
    if (norm(t(q), "1") * norm(inverse, "1") > WORST_CONDITION) not_identified()
    return(inverse)
  }
  root <- sqrt(colMeans(q))
  parts <- qr(t(sweep(q, 2, root, "/")), LAPACK = TRUE)
  triangle <- qr.R(parts)
  small <- tryCatch(backsolve(triangle, diag(nrow(q))), error = function(e) not_identified())
  if (norm(triangle, "1") * norm(small, "1") > WORST_CONDITION) not_identified()
  inverse <- small %*% t(qr.Q(parts))
  sweep(inverse[order(parts$pivot), , drop = FALSE], 2, root, "/")
}

not_identified <- function() {
  refuse("the reports do not determine every share: estimate in Python with merge=True")
}

listed_channel <- function(mechanism, q, inverse) {
  names <- if (is.null(mechanism$keys)) labels_from(mechanism$outputs) else mechanism$keys
  key <- if (is.null(mechanism$key)) key_of_outputs(mechanism$outputs) else mechanism$key
  list(
    statistic = function(reports, share) {
      different <- unique(reports)
      place <- match(key(different), names)[match(reports, different)]
      if (anyNA(place)) unknown(place)
      sum_by(place, share, length(names))
    },
    apply = function(s) drop(inverse %*% s),
    fitted = function(centre, spread) drop(inverse^2 %*% drop(spread %*% q)) - 2 * spread * centre + centre^2,
    seen = function(s, centre) drop((inverse - centre)^2 %*% s),
    covariance = function(centre, spread) {
      moment <- inverse %*% (drop(spread %*% q) * t(inverse))
      moment - outer(centre, spread) - outer(spread, centre) + outer(centre, centre)
    }
  )
}

key_of_outputs <- function(outputs) {
  sets <- is.null(names(outputs)) && any(vapply(outputs, function(one) is.list(one) && is.null(names(one)), TRUE))
  if (sets) function(reports) vapply(members_of(reports), set_text, "") else identity
}

unknown <- function(place) {
  refuse(sum(is.na(place)), " reports are not among those that the mechanism makes: is it the right mechanism?")
}

# -- reports that hold answers, too many to list

subset_channel <- function(mechanism) {
  k <- mechanism$weights$rows
  d <- mechanism$weights$size
  a <- probability(mechanism$weights$inside)
  apart <- if (k > 2) (d - 1) * (a * (d - 2) + (1 - a) * d) / ((k - 1) * (k - 2)) else 0
  held <- function(reports, share) {
    members <- members_of(reports)
    place <- match(unlist(members), mechanism$inputs)
    if (anyNA(place)) unknown(place)
    if (any(lengths(members) != d)) refuse("a report must hold ", d, " different labels")
    sum_by(place, rep(share, lengths(members)), k)
  }
  holding_channel(held, a, (d - a) / (k - 1), a * (d - 1) / (k - 1), apart)
}

bits_channel <- function(mechanism) {
  k <- mechanism$weights$rows
  a <- probability(mechanism$weights$own)
  b <- probability(mechanism$weights$other)
  held <- function(reports, share) {
    bytes <- lapply(members_of(reports), as.integer)
    if (any(lengths(bytes) != ceiling(k / 8)) || anyNA(unlist(bytes))) {
      refuse("a report must be ", ceiling(k / 8), " numbers from 0 to 255")
    }
    table <- do.call(cbind, bytes)
    bits <- do.call(rbind, lapply(seq_len(nrow(table)), function(i) {
      t(vapply(7:0, function(shift) bitwAnd(bitwShiftR(table[i, ], shift), 1), numeric(ncol(table))))
    }))
    drop(bits[seq_len(k), , drop = FALSE] %*% share)
  }
  holding_channel(held, a, b, a * b, b^2)
}

hash_channel <- function(mechanism) {
  g <- mechanism$weights$buckets
  k <- mechanism$weights$rows
  a <- probability(mechanism$weights$inside)
  share <- ((HASH_PRIME - 1 - (seq_len(g) - 1)) %/% g + 1) / HASH_PRIME
  bucket <- a * share + (1 - a) * (1 - share) / (g - 1)
  moved <- (seq_len(k) - 1 + 1234567) %% HASH_PRIME
  place <- ((moved * moved) %% HASH_PRIME * moved) %% HASH_PRIME
  held <- function(reports, mass) {
    number <- as.numeric(reports)
    if (anyNA(number) || any(number >= min(2^53, HASH_PRIME^2 * g)) || any(number < 0)) {
      refuse("reports must be whole numbers below ", text_of_whole(HASH_PRIME^2 * g), " and 2^53")
    }
    seed <- number %/% g
    first <- seed %/% HASH_PRIME
    second <- seed %% HASH_PRIME
    vapply(place, function(x) sum(mass[(first * x + second) %% HASH_PRIME %% g == number %% g]), 0)
  }
  holding_channel(held, a, sum(bucket * share), a * sum(share^2), sum(bucket * share^2))
}

sum_by <- function(place, share, k) {
  found <- numeric(k)
  sums <- tapply(share, factor(place, seq_len(k)), sum)
  found[!is.na(sums)] <- sums[!is.na(sums)]
  found
}

# a: that a report holds the truth, b: any other answer; two answers together with probability c1 if one of them is the
# truth, c2 otherwise.
holding_channel <- function(held, a, b, c1, c2) {
  step <- a - b
  shares <- function(p) b * sum(p) + step * p
  list(
    statistic = held,
    apply = function(s) (s - b) / step,
    fitted = function(centre, spread) {
      (shares(spread) * (1 - 2 * b) + b^2) / step^2 - 2 * spread * centre + centre^2
    },
    seen = function(s, centre) (s * (1 - 2 * b) + b^2) / step^2 - 2 * (s - b) / step * centre + centre^2,
    covariance = function(centre, spread) {
      t <- shares(spread)
      both <- c2 + (c1 - c2) * outer(spread, spread, "+")
      diag(both) <- t
      moment <- (both + b^2 - b * outer(t, t, "+")) / step^2
      moment - outer(spread, centre) - outer(centre, spread) + outer(centre, centre)
    }
  )
}
