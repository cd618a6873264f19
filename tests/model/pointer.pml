/*
 * The commit of a catalog that keeps a pointer to a table's newest metadata file (JDBC, REST, Hive): write the rows,
 * write a metadata file, move the pointer by compare-and-swap. Responses get lost, requests arrive late or never, and
 * writers can die before each step.
 *
 * Incorrect variants, each of which must be refuted:
 *   BLIND_SWAP          the pointer moves regardless of its value
 *   CLEANS_UP_UNKNOWN   a commit with an unknown outcome is treated as failed
 *   RETRIES_UNSEEN      a lost response is treated as a conflict, without a check whether the commit happened
 *   POINTS_FIRST        the pointer moves before the metadata file is written
 */
#ifndef WRITERS
#define WRITERS 2
#define ATTEMPTS 2
#endif
#define FILES (WRITERS * ATTEMPTS + 1) /* one for each attempt, and 0 for the first file of the table */

#define FILE(writer, attempt) (1 + (writer) * ATTEMPTS + (attempt))
#define TIMES(file, writer) times[(file) * WRITERS + (writer)]

mtype = { done, elsewhere, lost }

byte pointer = 0;
bool written[FILES];            /* metadata files in the storage */
byte base[FILES];               /* the base version of each file */
byte times[FILES * WRITERS];    /* how often a writer's rows are in a version */
bool rows[WRITERS];             /* data files in the storage */
bool acknowledged[WRITERS];
bool failed[WRITERS];
bool seen[WRITERS];             /* a reader has seen the writer's rows */
chan late = [WRITERS] of { byte, byte };

inline swap(from, to, answer) {
  if
#ifdef BLIND_SWAP
  :: true -> pointer = to; answer = done
#else
  :: pointer == from -> pointer = to; answer = done
  :: else -> answer = elsewhere
#endif
  fi
}

/* A request to the catalog, with all its possible outcomes. */
inline request(from, to, answer) {
  atomic {
    if
    :: true -> swap(from, to, answer)
    :: true -> swap(from, to, answer); answer = lost
    :: answer = lost
    :: late!from,to; answer = lost
    fi
  }
}

/* Whether a file is a version or one of the versions that it is based on. */
inline follows(version, file, answer) {
  step = version;
  do
  :: step == file -> answer = true; break
  :: step != file && step == 0 -> answer = false; break
  :: step != file && step != 0 -> step = base[step]
  od
}

#define MAY_DIE if :: skip :: goto dead fi

proctype writer(byte me) {
  byte attempt = 0;
  byte from, to, now, step;
  mtype answer;
  bool held, past;

  rows[me] = true;
  MAY_DIE;

again:
  atomic { from = pointer; to = FILE(me, attempt) };
  if
  :: TIMES(from, me) > 0 -> goto success /* the commit had succeeded after all */
  :: else
  fi;
  d_step {
    base[to] = from;
    now = 0;
    do
    :: now < WRITERS -> TIMES(to, now) = TIMES(from, now); now++
    :: else -> break
    od;
    TIMES(to, me) = TIMES(to, me) + 1;
    now = 0
  };
#ifndef POINTS_FIRST
  written[to] = true;
  MAY_DIE;
#endif
  request(from, to, answer);
  MAY_DIE;
#ifdef POINTS_FIRST
  written[to] = true;
#endif
  if
  :: answer == lost ->
#ifdef RETRIES_UNSEEN
    answer = elsewhere
#else
    request(from, to, answer); /* send the same request again; if the first one succeeded, the check below finds it */
    MAY_DIE
#endif
  :: else
  fi;
  if
  :: answer == done -> goto success
  :: else
  fi;
#ifndef RETRIES_UNSEEN
  d_step { /* check */
    now = pointer;
    follows(now, to, held);
    follows(now, from, past);
    past = past && now != from
  };
  if
  :: held -> goto success
  :: else
  fi;
  MAY_DIE;
  if
  :: past || answer == elsewhere -> skip
  :: else -> goto unknown
  fi;
#endif
  written[to] = false; /* a conflict: only files of this attempt are deleted */
  MAY_DIE;
  attempt++;
  if
  :: attempt < ATTEMPTS -> goto again
  :: else -> goto failure
  fi;

unknown:
#ifdef CLEANS_UP_UNKNOWN
  written[to] = false;
  goto failure;
#else
  goto dead; /* no file is deleted */
#endif

failure:
  rows[me] = false;
  failed[me] = true;
  goto dead;

success:
  acknowledged[me] = true;

dead:
  skip
}

/* Requests that arrive late, possibly long after their sender died. */
proctype network() {
  byte from, to;
  mtype answer;
end:
  do
  :: atomic { late?from,to -> swap(from, to, answer) }
  od
}

/* Reads the table at any time. */
proctype reader() {
  byte now, w;
  byte looks = 0;
  do
  :: looks < 2 ->
    d_step {
      now = pointer;
      w = 0;
      do
      :: w < WRITERS ->
        if
        :: TIMES(now, w) > 0 -> seen[w] = true
        :: else
        fi;
        w++
      :: else -> break
      od;
      now = 0;
      w = 0
    };
    looks++
  :: else -> break
  od
}

#define WHOLE (pointer == 0 || written[pointer])

/* No lost update: acknowledged rows are in the table, once. */
#define KEPT(w) ((!acknowledged[w] || TIMES(pointer, w) == 1) && TIMES(pointer, w) <= 1)

/* No dirty read: rows that a reader saw stay in the table, with their files, and their commit did not fail. */
#define CLEAN(w) ((!seen[w] || TIMES(pointer, w) > 0) && (TIMES(pointer, w) == 0 || (rows[w] && !failed[w])))

/* A failed commit leaves no files. */
#define TIDY(w) (!failed[w] || (!rows[w] && !written[FILE(w, 0)] && !written[FILE(w, ATTEMPTS - 1)]))

#if WRITERS == 2
#define ALL(rule) (rule(0) && rule(1))
#else
#define ALL(rule) (rule(0) && rule(1) && rule(2))
#endif

active proctype watch() {
end:
  atomic { !(WHOLE && ALL(KEPT) && ALL(CLEAN) && ALL(TIDY)) -> assert(false) }
}

init {
  atomic {
    run network();
    run reader();
    run writer(0);
    run writer(1)
#if WRITERS == 3
    ; run writer(2)
#endif
  }
}
