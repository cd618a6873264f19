package iceberglite.table

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.{V2, V3}
import iceberglite.spec.IcebergError.{ConcurrentChange, InvalidArgument, NotFound, ValidationFailed}
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.ContentFile
import iceberglite.spec.metadata.{Snapshot, SnapshotRef}
import iceberglite.table.Actions._
import iceberglite.table.SnapshotTarget.Branch
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  DeleteFiles,
  ExpireOptions,
  ExpireSnapshots,
  FastAppend,
  MergeBranch,
  OverwriteFiles,
  RemoveFiles,
  ReplacePartitions,
  RewriteFiles,
  RowDelta,
  SetRef,
  UpgradeVersion
}

/** Tests [[MergeBranch]]: the result has the changes of both branches, or the merge fails and changes nothing. */
class MergeBranchSuite extends AnyFunSuite {
  private val work = Branch("work")
  private val (a, b, c) = (fileOf("a", "a"), fileOf("b", "b"), fileOf("c", "c"))

  /** A table with the files a, b and c, and a branch `work` at the head of `main`. */
  private def branched(version: FormatVersion = V3): Actions = {
    val t = tableByCategory(version)
    t.append(a, b, c)
    t.commit(new SetRef("work", SnapshotRef.Branch(t.table.currentSnapshot.get.snapshotId)))
    t
  }

  private def head(t: Actions, branch: String = "work"): Snapshot = t.table.metadata.snapshotOf(branch).get

  private def merge(t: Actions): MergeBranch = {
    val action = new MergeBranch("work")
    t.commit(action)
    action
  }

  private def conflict(t: Actions): String = {
    val before = (t.table.metadata.refs, t.store.paths)
    val message = intercept[ConcurrentChange](merge(t)).getMessage
    assert((t.table.metadata.refs, t.store.paths) == before, "a failed merge must change nothing")
    message
  }

  test("commits of a diverged branch are applied to main in their order, and each new snapshot records its original") {
    val t = branched()
    t.commit(new FastAppend(Vector(fileOf("d", "d")), work))
    val first = head(t)
    t.commit(new DeleteFiles(category("a"), to = work))
    val second = head(t)
    t.append(fileOf("e", "e"))
    val before = t.table.currentSnapshot.get
    val result = merge(t).merged
    val table = t.table
    assert(liveFiles(table) == Vector("b", "c", "d", "e"))
    val added =
      table.metadata.ancestors(table.currentSnapshot.get).takeWhile(_.snapshotId != before.snapshotId).toVector
    assert(added.map(_.summary("operation")) == Vector("delete", "append"))
    assert(added.map(_.summary("source-snapshot-id")) == Vector(second, first).map(_.snapshotId.toString))
    assert(result.previous.contains(before.snapshotId) && result.current.contains(added.head.snapshotId))
    assert(result.commits == 2 && head(t) == second && t.orphanFiles.isEmpty)
  }

  test("main is fast-forwarded if it has no commits of its own, and a merged branch is not merged again") {
    val t = branched()
    assert(merge(t).merged.commits == 0)
    t.commit(new FastAppend(Vector(fileOf("d", "d")), work))
    assert(merge(t).merged.commits == 1 && t.table.currentSnapshot.contains(head(t)))
    t.append(fileOf("e", "e"))
    t.commit(new FastAppend(Vector(fileOf("f", "f")), work))
    assert(merge(t).merged.commits == 1)
    val merged = t.table
    assert(merge(t).merged.commits == 0 && t.table.metadataLocation == merged.metadataLocation)
    t.commit(new FastAppend(Vector(fileOf("g", "g")), work))
    assert(merge(t).merged.commits == 1 && liveFiles(t.table) == Vector("a", "b", "c", "d", "e", "f", "g"))
  }

  test("a branch can be merged in both directions without applying a commit twice") {
    val t = branched()
    t.commit(new FastAppend(Vector(fileOf("d", "d")), work))
    t.append(fileOf("e", "e"))
    t.commit(new MergeBranch("main", work))
    merge(t)
    assert(liveFiles(t.table) == Vector("a", "b", "c", "d", "e"))
    assert(liveFiles(t.store, t.table.metadata, Some(head(t))) == Vector("a", "b", "c", "d", "e"))
  }

  test("deletion vectors of both branches for the same data file are merged, also over several commits") {
    val t = branched()
    val first = t.vectors("w1.puffin", a -> Seq(1L))
    val second = t.vectors("w2.puffin", a -> Seq(1L, 2L))
    t.commit(new RowDelta(first, to = work))
    t.commit(new RowDelta(second, removed = first, to = work))
    t.commit(new RowDelta(t.vectors("m.puffin", a -> Seq(5L), b -> Seq(0L))))
    merge(t)
    assert(t.deleted(t.table, a) == Vector(1L, 2L, 5L) && t.deleted(t.table, b) == Vector(0L))
    assert(
      t.store.paths.contains("w1.puffin") && t.store.paths.contains("w2.puffin"),
      "the branch refers to these files"
    )
    t.commit(new RowDelta(
      t.vectors("w3.puffin", a -> Seq(1L, 2L, 3L)) :+ fileOf("a", "a3"),
      removed = second,
      to = work
    ))
    assert(merge(t).merged.commits == 1 && t.deleted(t.table, a) == Vector(1L, 2L, 3L, 5L))
  }

  test("updates of the same row on both branches conflict, and the error names the snapshot, the file and the row") {
    val t = branched()
    t.commit(new RowDelta(t.vectors("w.puffin", a -> Seq(1L, 4L)) :+ fileOf("a", "a2"), to = work))
    t.commit(new RowDelta(t.vectors("m.puffin", a -> Seq(4L)) :+ fileOf("a", "a3")))
    val message = conflict(t)
    assert(message.contains(s"the changes of snapshot ${head(t).snapshotId}"))
    assert(message.contains("m.puffin deletes row 4 of a") && message.contains("work into main"))
  }

  test("a delete on the branch conflicts with an update of the same row on main, but not with a delete of this row") {
    val t = branched()
    t.commit(new RowDelta(t.vectors("w.puffin", a -> Seq(4L)), to = work))
    t.commit(new RowDelta(t.vectors("m.puffin", a -> Seq(4L))))
    merge(t)
    assert(t.deleted(t.table, a) == Vector(4L))
    val u = branched()
    u.commit(new RowDelta(u.vectors("w.puffin", a -> Seq(4L)), to = work))
    u.commit(new RowDelta(u.vectors("m.puffin", a -> Seq(4L)) :+ fileOf("a", "a2")))
    assert(conflict(u).contains("m.puffin deletes row 4 of a"))
  }

  test("an update on main is found although a later commit of main deletes other rows of the same file") {
    val t = branched()
    t.commit(new RowDelta(t.vectors("w.puffin", a -> Seq(4L)), to = work))
    val updated = t.vectors("m.puffin", a -> Seq(4L))
    t.commit(new RowDelta(updated :+ fileOf("a", "a2")))
    t.commit(new RowDelta(t.vectors("m2.puffin", a -> Seq(4L, 9L)), removed = updated))
    assert(conflict(t).contains("m2.puffin deletes row 4 of a"))
    val u = branched(V2)
    u.commit(new RowDelta(Vector(positionDeletes("w", a)), to = work))
    u.commit(new RowDelta(Vector(positionDeletes("m", a), fileOf("a", "a2"))))
    u.commit(new RowDelta(Vector(positionDeletes("m2", a))))
    assert(conflict(u).contains("added the delete file m, which may delete rows of a"))
  }

  test("a merge is rejected if the branch deletes a whole file of which main has updated a row") {
    val t = branched()
    t.commit(new DeleteFiles(category("a"), to = work))
    t.commit(new RowDelta(t.vectors("m.puffin", a -> Seq(4L)) :+ fileOf("a", "a2")))
    assert(conflict(t).contains("added the delete file m.puffin, which may delete rows of a"))
  }

  test("a merge is rejected if main rewrites a file to which a delete file of several data files may apply") {
    val t = branched(V2)
    val a2 = fileOf("a", "a2")
    t.append(a2)
    t.commit(new MergeBranch("main", work))
    t.commit(new RowDelta(Vector(positionDeletes("w", a, a2)), to = work))
    t.commit(new RewriteFiles(Vector(a), Vector(fileOf("a", "a3")), t.table.currentSnapshot.get.snapshotId))
    assert(conflict(t).contains("rewrote a, which the commit changes"))
  }

  test("a deletion vector of the branch does not replace position deletes that main added before an upgrade") {
    val t = branched(V2)
    t.commit(new RowDelta(Vector(positionDeletes("m", a))))
    t.commit(new UpgradeVersion(V3))
    t.commit(new RowDelta(t.vectors("w.puffin", a -> Seq(2L)), to = work))
    assert(conflict(t).contains("added the delete file m, which may delete rows of a"))
  }

  test("equality deletes of the branch conflict with rows of main that the branch received later") {
    val t = branched(V2)
    t.commit(new RowDelta(Vector(equalityDeletes("eq", a, (0, 9))), to = work))
    t.append(fileOf("a", "a2", ids = (5, 8)))
    t.commit(new MergeBranch("main", work))
    assert(conflict(t).contains("added a2, which may have rows that eq deletes"))
  }

  test("a merge fails if main has removed a file that the branch changes or compacts; the error names the snapshot") {
    val changes = Seq[Actions => Action](
      t => new RowDelta(t.vectors("w.puffin", a -> Seq(1L)), to = work),
      _ => new OverwriteFiles(AlwaysFalse, Vector(fileOf("a", "a2")), removed = Vector(a), to = work),
      t => new RewriteFiles(Vector(a), Vector(fileOf("a", "a2")), head(t).snapshotId, to = work)
    )
    changes.foreach { change =>
      val t = branched()
      t.commit(change(t))
      t.commit(new RemoveFiles(Set("a")))
      assert(conflict(t).contains(s"snapshot ${t.table.currentSnapshot.get.snapshotId} removed a,"))
    }
  }

  test("a merge fails if main has deleted rows of a file that the branch rewrites") {
    val t = branched()
    t.commit(new OverwriteFiles(AlwaysFalse, Vector(fileOf("a", "a2")), removed = Vector(a), to = work))
    t.commit(new RowDelta(t.vectors("m.puffin", a -> Seq(1L))))
    assert(conflict(t).contains("added the delete file m.puffin, which may delete rows of a"))
  }

  test("a merge fails if main has added files to a partition that the branch replaces, but not for other partitions") {
    val t = branched()
    t.commit(new ReplacePartitions(Vector(fileOf("a", "a2")), to = work))
    t.append(fileOf("b", "b2"))
    val u = branched()
    u.commit(new ReplacePartitions(Vector(fileOf("a", "a2")), to = work))
    u.append(fileOf("a", "a3"))
    merge(t)
    assert(liveFiles(t.table) == Vector("a2", "b", "b2", "c"))
    assert(conflict(u).contains("added a3 to a partition that the commit replaces"))
  }

  test("equality deletes of the branch must not apply to new rows of main") {
    val t = branched(V2)
    t.commit(new RowDelta(Vector(equalityDeletes("eq", a, (0, 9))), to = work))
    t.append(fileOf("a", "a2", ids = (5, 8)))
    assert(conflict(t).contains("added a2, which may have rows that eq deletes"))
    val u = branched(V2)
    u.commit(new RowDelta(Vector(equalityDeletes("eq", a, (0, 9))), to = work))
    u.append(fileOf("a", "a2", ids = (50, 80)))
    merge(u)
    assert(liveFiles(u.table) == Vector("a", "a2", "b", "c", "eq"))
  }

  test("position deletes of both branches for different data files are merged") {
    val t = branched(V2)
    t.commit(new RowDelta(Vector(positionDeletes("w", a), fileOf("a", "a2")), to = work))
    t.commit(new RowDelta(Vector(positionDeletes("m", b))))
    merge(t)
    assert(liveFiles(t.table) == Vector("a", "a2", "b", "c", "m", "w"))
    t.commit(new RowDelta(Vector(positionDeletes("w2", c), fileOf("c", "c2")), to = work))
    t.commit(new RowDelta(Vector(positionDeletes("m2", c))))
    assert(conflict(t).contains("added the delete file m2, which may delete rows of c"))
  }

  test("a merge that loses commit races is retried on the new heads of both branches") {
    val t = branched()
    t.commit(new RowDelta(t.vectors("w.puffin", a -> Seq(1L)), to = work))
    t.append(fileOf("d", "d"))
    val read = t.table
    t.commit(new RowDelta(t.vectors("m.puffin", a -> Seq(2L))))
    t.commit(new FastAppend(Vector(fileOf("e", "e")), work))
    t.commitOn(read, new MergeBranch("work"))
    assert(t.deleted(t.table, a) == Vector(1L, 2L) && liveFiles(t.table).contains("e"))
    assert(t.orphanFiles.isEmpty)
  }

  test("merging a missing branch, main into itself, or branches without a common snapshot is rejected") {
    val t = branched()
    intercept[NotFound](t.commit(new MergeBranch("nothing")))
    intercept[InvalidArgument](new MergeBranch("main"))
    t.commit(new FastAppend(Vector(fileOf("d", "d")), work))
    t.append(fileOf("e", "e"))
    val ancestor = t.table.metadata.snapshots.head.snapshotId
    t.commit(new ExpireSnapshots(ExpireOptions(snapshotIds = Set(ancestor))))
    assert(intercept[ValidationFailed](merge(t)).getMessage.contains("no common snapshot"))
  }

  test("after random commits to disjoint partitions, the result has the changes of both branches") {
    val random = new Random(17)
    for (_ <- 1 to 40) {
      val t = branched()
      val model = new Model(t)
      for (i <- 1 to 2 + random.nextInt(10)) model.change(random, i)
      merge(t)
      assert(liveFiles(t.table).filterNot(_.endsWith(".puffin")) == model.files.toVector.sorted)
      model.deletes.foreach { case (file, rows) => assert(t.deleted(t.table, file) == rows.toVector.sorted, file.path) }
      assert(t.orphanFiles.isEmpty)
      val merged = t.table.metadataLocation
      merge(t)
      assert(t.table.metadataLocation == merged)
    }
  }

  /** Applies random changes to the partitions a and d on the branch, and to b and c on `main`. */
  final private class Model(t: Actions) {
    var data: Map[String, Vector[ContentFile]] = Map("a" -> Vector(a), "b" -> Vector(b), "c" -> Vector(c))
    var deletes: Map[ContentFile, Set[Long]] = Map.empty
    private var vectors = Map.empty[ContentFile, ContentFile]

    def files: Set[String] = data.values.flatten.map(_.path).toSet

    def change(random: Random, i: Int): Unit = {
      val onBranch = random.nextBoolean()
      val partition = if (onBranch) Seq("a", "d")(random.nextInt(2)) else Seq("b", "c")(random.nextInt(2))
      val to = if (onBranch) work else SnapshotTarget.Main
      val existing = data.getOrElse(partition, Vector.empty)
      val added = fileOf(partition, s"$partition$i")
      random.nextInt(4) match {
        case 0 => replaceAll(partition, Vector(added), new ReplacePartitions(Vector(added), to = to))
        case 1 if existing.nonEmpty =>
          replaceAll(partition, Vector.empty, new DeleteFiles(category(partition), to = to))
        case 2 if existing.nonEmpty => delete(existing(random.nextInt(existing.size)), random.nextInt(10).toLong, to, i)
        case _ => replaceAll(partition, existing :+ added, new FastAppend(Vector(added), to))
      }
    }

    private def replaceAll(partition: String, files: Vector[ContentFile], action: Action): Unit = {
      t.commit(action)
      data += partition -> files
      deletes = deletes.filterKeys(f => data.values.exists(_.contains(f))).map(identity)
    }

    private def delete(file: ContentFile, row: Long, to: Branch, i: Int): Unit = {
      val rows = deletes.getOrElse(file, Set.empty) + row
      val Vector(vector) = t.vectors(s"v$i.puffin", file -> rows.toVector.sorted)
      t.commit(new RowDelta(Vector(vector), removed = vectors.get(file).toVector, to = to))
      deletes += file -> rows
      vectors += file -> vector
    }
  }
}
