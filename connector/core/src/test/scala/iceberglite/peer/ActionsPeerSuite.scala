package iceberglite.peer

import scala.collection.JavaConverters._

import org.apache.iceberg.SnapshotRef.MAIN_BRANCH
import org.apache.iceberg.expressions.{Expressions => Theirs}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.conformance.CommitRules
import iceberglite.peer.PeerActions.vector
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.SnapshotRef
import iceberglite.table._
import iceberglite.table.Actions._
import iceberglite.table.SnapshotTarget.{Branch, Staged}
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  CherryPick,
  FastAppend,
  FastForward,
  OverwriteFiles,
  RemoveRef,
  ReplacePartitions,
  RewriteFiles,
  RollbackToSnapshot,
  RowDelta,
  SetCurrentSnapshot,
  SetRef
}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.action.ReadRows

/** Compares the results and the conflicts of table operations in iceberg-lite and in Apache Iceberg. */
class ActionsPeerSuite extends AnyFunSuite {

  Seq(V2, V3).foreach { version =>
    test(
      s"random operations on a version $version table give the same result as in Apache Iceberg",
      CommitRules.operations +: Sampling.slowUnless(version == V3): _*
    ) {
      (1 to 3).foreach(seed => new RandomActions(version, seed).run(14))
    }
  }

  /** A table of iceberg-lite and a table of Apache Iceberg. Both have the same two files, in different partitions. */
  final private class TablePair(version: FormatVersion) {
    val a: ContentFile = fileOf("a", "a1", ids = (0, 9))
    val b: ContentFile = fileOf("b", "b1", ids = (10, 19))
    val pair = new PeerActions(tableByCategory(version))
    pair.onBoth("fill")(new FastAppend(Vector(a, b)))(t =>
      t.newFastAppend().appendFile(pair.data(a)).appendFile(pair.data(b)).commit()
    )
    val read: Table = pair.ours.table
    val peerReadSnapshotId: Long = pair.theirs.currentSnapshot.snapshotId

    def append(file: ContentFile): Unit = {
      pair.onBoth("append")(new FastAppend(Vector(file)))(_.newFastAppend().appendFile(pair.data(file)).commit())
      ()
    }

    def deletes(file: ContentFile): Unit = {
      pair.onBoth("deletes")(new RowDelta(Vector(file)))(_.newRowDelta().addDeletes(pair.deletes(file)).commit())
      ()
    }

    def compact(file: ContentFile): Unit = {
      val small = file.copy(path = s"compacted-${file.path}")
      pair.onBoth("compact")(new RewriteFiles(Vector(file), Vector(small), read.currentSnapshot.get.snapshotId)) { t =>
        t.newRewrite().validateFromSnapshot(peerReadSnapshotId).dataSequenceNumber(1)
          .deleteFile(pair.data(file)).addFile(pair.data(small)).commit()
      }
      ()
    }
  }

  private val levels = IsolationLevel.all

  test(
    "this library and Apache Iceberg reject the same row deltas after the same concurrent commits",
    CommitRules.filesStillExist,
    CommitRules.serializable
  ) {
    val concurrentCommits: Vector[(String, TablePair => Unit)] = Vector(
      "nothing" -> (_ => ()),
      "append to a" -> (_.append(fileOf("a", "new", ids = (5, 6)))),
      "append to b" -> (_.append(fileOf("b", "new", ids = (5, 6)))),
      "append of other rows" -> (_.append(fileOf("a", "new", ids = (100, 109)))),
      "compaction of a" -> (s => s.compact(s.a)),
      "compaction of b" -> (s => s.compact(s.b))
    )
    for ((name, concurrentCommit) <- concurrentCommits; level <- levels) {
      val s = new TablePair(V2)
      concurrentCommit(s)
      val mine = positionDeletes("mine", s.a)
      val filter = Expression.and(category("a"), idBelow(10))
      s.pair.onBoth(s"delete after $name, ${level.name}")(
        new RowDelta(Vector(mine), isolation = since(s.read, level), read = ReadRows(filter))
      ) { t =>
        val delta = t.newRowDelta().addDeletes(s.pair.deletes(mine)).validateFromSnapshot(s.peerReadSnapshotId)
          .conflictDetectionFilter(Theirs.and(Theirs.equal("category", "a"), Theirs.lessThan("id", 10L)))
          .validateDataFilesExist(Seq("a1").asJava)
        if (level == IsolationLevel.Serializable) delta.validateNoConflictingDataFiles()
        delta.commit()
      }
    }
  }

  test(
    "this library and Apache Iceberg reject the same overwrites after the same concurrent commits",
    CommitRules.snapshotIsolation
  ) {
    val concurrentCommits: Vector[(String, TablePair => Unit)] = Vector(
      "nothing" -> (_ => ()),
      "append to a" -> (_.append(fileOf("a", "new", ids = (5, 6)))),
      "append to b" -> (_.append(fileOf("b", "new", ids = (5, 6)))),
      "deletes of a" -> (s => s.deletes(positionDeletes("d", s.a))),
      "deletes of b" -> (s => s.deletes(positionDeletes("d", s.b))),
      "equality deletes in a" -> (s => s.deletes(equalityDeletes("e", s.a, (3, 4)))),
      "compaction of b" -> (s => s.compact(s.b))
    )
    for ((name, concurrentCommit) <- concurrentCommits; level <- levels; byFilter <- Seq(true, false)) {
      val s = new TablePair(V2)
      concurrentCommit(s)
      val mine = fileOf("a", "mine")
      val action =
        if (byFilter) new OverwriteFiles(category("a"), Vector(mine), since(s.read, level))
        else new OverwriteFiles(
          AlwaysFalse,
          Vector(mine),
          since(s.read, level),
          removed = Vector(s.a),
          read = Some(category("a"))
        )
      s.pair.onBoth(s"overwrite after $name, ${level.name}, by filter: $byFilter")(action) { t =>
        val inA = Theirs.equal("category", "a")
        val o = t.newOverwrite().addFile(s.pair.data(mine)).validateFromSnapshot(s.peerReadSnapshotId)
          .conflictDetectionFilter(inA)
        if (byFilter) o.overwriteByRowFilter(inA) else o.deleteFile(s.pair.data(s.a))
        o.validateNoConflictingDeletes()
        if (level == IsolationLevel.Serializable) o.validateNoConflictingData()
        o.commit()
      }
    }
  }

  test(
    "this library and Apache Iceberg reject the same compactions after the same concurrent commits",
    CommitRules.rewriteConflicts
  ) {
    val concurrentCommits: Vector[(FormatVersion, String, TablePair => Unit)] = Vector(
      (V2, "append", _.append(fileOf("a", "new"))),
      (V2, "deletes of a", s => s.deletes(positionDeletes("d", s.a))),
      (V2, "deletes of b", s => s.deletes(positionDeletes("d", s.b))),
      (V2, "equality deletes", s => s.deletes(equalityDeletes("e", s.a, (3, 4)))),
      (V2, "compaction of a", s => s.compact(s.a)),
      (V2, "compaction of b", s => s.compact(s.b)),
      (V3, "a vector of a", s => s.deletes(vector("d.puffin", s.a))),
      (V3, "a vector of b", s => s.deletes(vector("d.puffin", s.b)))
    )
    concurrentCommits.foreach { case (version, name, concurrentCommit) =>
      val s = new TablePair(version)
      concurrentCommit(s)
      val mine = fileOf("a", "mine")
      s.pair.onBoth(s"rewrite after $name")(
        new RewriteFiles(Vector(s.a), Vector(mine), s.read.currentSnapshot.get.snapshotId)
      ) { t =>
        t.newRewrite().validateFromSnapshot(s.peerReadSnapshotId).dataSequenceNumber(1)
          .deleteFile(s.pair.data(s.a)).addFile(s.pair.data(mine)).commit()
      }
    }
  }

  test(
    "this library and Apache Iceberg reject the same partition replacements after the same concurrent commits",
    CommitRules.disjoint
  ) {
    val concurrentCommits: Vector[(String, TablePair => Unit)] = Vector(
      "append to a" -> (_.append(fileOf("a", "new"))),
      "append to b" -> (_.append(fileOf("b", "new"))),
      "deletes of a" -> (s => s.deletes(positionDeletes("d", s.a))),
      "deletes of b" -> (s => s.deletes(positionDeletes("d", s.b)))
    )
    for ((name, concurrentCommit) <- concurrentCommits; level <- levels) {
      val s = new TablePair(V2)
      concurrentCommit(s)
      val mine = fileOf("a", "mine")
      s.pair.onBoth(s"replace after $name, ${level.name}")(new ReplacePartitions(Vector(mine), since(s.read, level))) {
        t =>
          val r = t.newReplacePartitions().addFile(s.pair.data(mine)).validateFromSnapshot(s.peerReadSnapshotId)
            .validateNoConflictingDeletes()
          if (level == IsolationLevel.Serializable) r.validateNoConflictingData()
          r.commit()
      }
    }
  }

  test(
    "a second deletion vector of one data file is merged by this library, and rejected by Apache Iceberg",
    CommitRules.unitedVectors
  ) {
    val s = new TablePair(V3)
    val (one, two) = (s.pair.ours.vectors("1.puffin", s.a -> Seq(1L)), s.pair.ours.vectors("2.puffin", s.a -> Seq(2L)))
    s.deletes(one.head)
    val delta =
      s.pair.theirs.newRowDelta().addDeletes(s.pair.deletes(two.head)).validateFromSnapshot(s.peerReadSnapshotId)
    intercept[org.apache.iceberg.exceptions.ValidationException](delta.commit())
    val table = s.pair.ours.commitOn(s.read, new RowDelta(two, isolation = serializable(s.read)))
    assert(s.pair.ours.deleted(table, s.a) == Vector(1L, 2L))
  }

  test(
    "staging, cherry-picking and changing branches give the same result as in Apache Iceberg",
    CommitRules.staged,
    CommitRules.branches
  ) {
    val s = new TablePair(V3)
    val files = (1 to 9).map(i => fileOf("c", s"c$i"))
    s.pair.onBoth("stage")(new FastAppend(Vector(files(0)), Staged)) {
      _.newFastAppend().appendFile(s.pair.data(files(0))).stageOnly().commit()
    }
    s.pair.onBoth("stage replace")(new ReplacePartitions(Vector(fileOf("b", "b2")), to = Staged)) {
      _.newReplacePartitions().addFile(s.pair.data(fileOf("b", "b2"))).stageOnly().commit()
    }
    s.append(files(1))
    val picked =
      s.pair.onBoth("pick")(new CherryPick(s.pair.ourId(1)))(
        _.manageSnapshots().cherrypick(s.pair.peerSnapshotId(1)).commit()
      )
    assert(picked)
    s.pair.onBoth("pick a replace")(new CherryPick(s.pair.ourId(2)))(
      _.manageSnapshots().cherrypick(s.pair.peerSnapshotId(2)).commit()
    )
    val again = s.pair.onBoth("pick again")(new CherryPick(s.pair.ourId(1)))(
      _.manageSnapshots().cherrypick(s.pair.peerSnapshotId(1)).commit()
    )
    assert(!again)
    s.pair.onBoth("branch")(new SetRef("x", SnapshotRef.Branch(s.pair.ourId(0))))(_.manageSnapshots().createBranch(
      "x",
      s.pair.peerSnapshotId(0)
    ).commit())
    s.pair.onBoth("append to it")(new FastAppend(Vector(files(2)), Branch("x"))) {
      _.newFastAppend().appendFile(s.pair.data(files(2))).toBranch("x").commit()
    }
    s.pair.onBoth("append to a new one")(new FastAppend(Vector(files(3)), Branch("y", create = true))) { t =>
      // If a commit created the branch, Apache Iceberg would start the totals in the summary of its snapshot at zero.
      t.manageSnapshots().createBranch("y").commit()
      t.newFastAppend().appendFile(s.pair.data(files(3))).toBranch("y").commit()
    }
    s.pair.onBoth("fast-forward main")(new FastForward(MAIN_BRANCH, "y"))(_.manageSnapshots().fastForwardBranch(
      MAIN_BRANCH,
      "y"
    ).commit())
    val diverged =
      s.pair.onBoth("fast-forward x")(new FastForward("x", MAIN_BRANCH))(_.manageSnapshots().fastForwardBranch(
        "x",
        MAIN_BRANCH
      ).commit())
    assert(!diverged)
    s.pair.onBoth("a new branch by fast-forward")(new FastForward("z", "x"))(_.manageSnapshots().fastForwardBranch(
      "z",
      "x"
    ).commit())
    s.pair.onBoth("back")(new RollbackToSnapshot(s.pair.ourId(0)))(
      _.manageSnapshots().rollbackTo(s.pair.peerSnapshotId(0)).commit()
    )
    s.pair.onBoth("no ancestor")(new RollbackToSnapshot(s.pair.ourId(2)))(
      _.manageSnapshots().rollbackTo(s.pair.peerSnapshotId(2)).commit()
    )
    s.pair.onBoth("set")(new SetCurrentSnapshot(s.pair.ourId(2)))(
      _.manageSnapshots().setCurrentSnapshot(s.pair.peerSnapshotId(2)).commit()
    )
    s.pair.onBoth("tag")(new SetRef("v", SnapshotRef.Tag(s.pair.ourId(3))))(_.manageSnapshots().createTag(
      "v",
      s.pair.peerSnapshotId(3)
    ).commit())
    s.pair.onBoth("drop")(new RemoveRef("x"))(_.manageSnapshots().removeBranch("x").commit())
  }
}
