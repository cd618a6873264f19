/*
 * The commit of the file-system catalog: write the rows, then create the metadata file with the next number. Only one
 * attempt can create it. The version hint is written after the commit; it can be outdated, and can go back to an older
 * version. Responses get lost, requests arrive late or never, and writers can die before each step.
 *
 * Incorrect variants, each of which must be refuted:
 *   REPLACES            the file is created even if a file with this name exists, as by a rename that replaces
 *   CLEANS_UP_UNKNOWN   a commit with an unknown outcome is treated as failed
 *   RETRIES_UNSEEN      a lost response is treated as a conflict, without a check which attempt created the file
 *   TRUSTS_HINT         the hint is treated as the newest version
 */
#ifndef WRITERS
#define WRITERS 2
#define ATTEMPTS 2
#endif
#define VERSIONS (WRITERS + 2) /* the first one is 0; one more than needed, to detect duplicates */

#define TIMES(version, writer) times[(version) * WRITERS + (writer)]
#define OURS(writer, attempt) (1 + (writer) * ATTEMPTS + (attempt))

mtype = { done, taken, lost }

byte owner[VERSIONS];              /* the attempt that created the file of this number; 0 is none */
byte times[VERSIONS * WRITERS];    /* how often a writer's rows are in a version */
byte newest = 0;                   /* the true newest version, which writers cannot read */
byte hint = 0;
bool rows[WRITERS];
bool acknowledged[WRITERS];
bool failed[WRITERS];
bool seen[WRITERS];
bool stale = false;                /* a reader missed a commit acknowledged before it began */
chan late = [WRITERS] of { byte, byte, byte };

/* Creates the file of a version: it has the rows of the previous version and the rows of the writer. */
inline create(number, me, mine, answer) {
  if
#ifdef REPLACES
  :: true ->
#else
  :: owner[number] != 0 -> answer = taken
  :: owner[number] == 0 ->
#endif
    owner[number] = mine;
    w = 0;
    do
    :: w < WRITERS -> TIMES(number, w) = TIMES(number - 1, w); w++
    :: else -> break
    od;
    w = 0;
    TIMES(number, me) = TIMES(number, me) + 1;
    if
    :: newest < number -> newest = number
    :: else
    fi;
    answer = done
  fi
}

inline request(number, me, mine, answer) {
  atomic {
    if
    :: true -> create(number, me, mine, answer)
    :: true -> create(number, me, mine, answer); answer = lost
    :: answer = lost
    :: late!number,me,mine; answer = lost
    fi
  }
}

/* Finds the newest version: starts at the hint, and goes forward until a number has no file. */
inline load(version) {
  version = hint;
#ifndef TRUSTS_HINT
  do
  :: version + 1 < VERSIONS && owner[version + 1] != 0 -> version++
  :: else -> break
  od
#endif
}

#define MAY_DIE if :: skip :: goto dead fi

proctype writer(byte me) {
  byte attempt = 0;
  byte from, now, w;
  mtype answer;

  rows[me] = true;
  MAY_DIE;

again:
  load(from);
  if
  :: TIMES(from, me) > 0 -> goto success
  :: else
  fi;
  if
  :: from + 1 == VERSIONS -> goto dead
  :: else
  fi;
  MAY_DIE;
  request(from + 1, me, OURS(me, attempt), answer);
  MAY_DIE;
#ifndef RETRIES_UNSEEN
  if
  :: answer == lost && owner[from + 1] == 0 ->
    request(from + 1, me, OURS(me, attempt), answer); /* both requests are for the same commit */
    MAY_DIE
  :: else
  fi;
  if
  :: answer != done && owner[from + 1] == OURS(me, attempt) -> answer = done
  :: answer == lost && owner[from + 1] != 0 && owner[from + 1] != OURS(me, attempt) -> answer = taken
  :: else
  fi;
#endif
  if
  :: answer == done ->
    if
    :: hint = from + 1 /* or not: correctness does not depend on it */
    :: skip
    fi;
    goto success
  :: answer == lost ->
#ifdef RETRIES_UNSEEN
    skip
#else
    goto unknown
#endif
  :: else
  fi;
  attempt++;
  if
  :: attempt < ATTEMPTS -> goto again
  :: else -> goto failure
  fi;

unknown:
  load(now); /* check once more */
  if
  :: TIMES(now, me) > 0 -> goto success
  :: else
  fi;
#ifdef CLEANS_UP_UNKNOWN
  goto failure;
#else
  goto dead;
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

proctype network() {
  byte number, me, mine, w;
  mtype answer;
end:
  do
  :: atomic { late?number,me,mine -> create(number, me, mine, answer) }
  od
}

proctype reader() {
  byte now, w;
  byte looks = 0;
  bool expected[WRITERS];
  do
  :: looks < 2 ->
    atomic {
      w = 0;
      do
      :: w < WRITERS -> expected[w] = acknowledged[w]; w++
      :: else -> break
      od
    };
    load(now);
    atomic {
      w = 0;
      do
      :: w < WRITERS ->
        if
        :: TIMES(now, w) > 0 -> seen[w] = true
        :: TIMES(now, w) == 0 && expected[w] -> stale = true
        :: else
        fi;
        expected[w] = false;
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

/* No lost update: acknowledged rows are in the table, once. */
#define KEPT(w) ((!acknowledged[w] || TIMES(newest, w) == 1) && TIMES(newest, w) <= 1)

/* No dirty read: rows that a reader saw stay in the table, with their files, and their commit did not fail. */
#define CLEAN(w) ((!seen[w] || TIMES(newest, w) > 0) && (TIMES(newest, w) == 0 || (rows[w] && !failed[w])))

#if WRITERS == 2
#define ALL(rule) (rule(0) && rule(1))
#else
#define ALL(rule) (rule(0) && rule(1) && rule(2))
#endif

active proctype watch() {
end:
  atomic { !(!stale && ALL(KEPT) && ALL(CLEAN)) -> assert(false) }
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
