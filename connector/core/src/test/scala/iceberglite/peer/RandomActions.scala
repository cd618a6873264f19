package iceberglite.peer

import scala.util.Random

import org.apache.iceberg.expressions.{Expressions => Theirs}

import iceberglite.peer.PeerActions.vector
import iceberglite.spec.FormatVersion
import iceberglite.spec.FormatVersion.V2
import iceberglite.spec.expr.Expression.AlwaysFalse
import iceberglite.spec.file.{Content, ContentFile}
import iceberglite.spec.types.Literal
import iceberglite.table._
import iceberglite.table.Actions._
import iceberglite.table.TestTables._
import iceberglite.table.action.{
  DeleteFiles,
  FastAppend,
  MergeAppend,
  OverwriteFiles,
  RemoveFiles,
  ReplacePartitions,
  RewriteFiles,
  RewriteManifests,
  RollbackToSnapshot,
  RowDelta
}

/** Makes the same random commits, one after the other, to a table of iceberg-lite and a table of Apache Iceberg. */
final private[peer] class RandomActions(version: FormatVersion, seed: Int) {
  private val random = new Random(seed)
  private val pair = new PeerActions(tableByCategory(version))
  private var fileCount = 0

  private def newFile(category: String = Seq("a", "b", "c")(random.nextInt(3))): ContentFile = {
    fileCount += 1
    fileOf(category, s"f$fileCount", records = 1L + random.nextInt(20), ids = (fileCount * 10L, fileCount * 10L + 9))
  }

  private def categoryOf(file: ContentFile): String =
    file.partition.values.head.collect { case Literal.StringLiteral(c) => c }.mkString

  private def someOf[A](all: Vector[A], atMost: Int): Vector[A] = random.shuffle(all).take(1 + random.nextInt(atMost))
  private def live: Vector[ContentFile] = Actions.live(pair.ours.store, pair.ours.table).map(_.file)
  private def data: Vector[ContentFile] = live.filter(_.content == Content.Data)
  private def head: Long = pair.ours.table.currentSnapshot.get.snapshotId
  private def peerHead: Long = pair.theirs.currentSnapshot.snapshotId

  private val steps: Vector[() => Unit] =
    Vector(() => fastAppend(), () => append(), () => append(), () => deleteByFilter(), () => remove()) ++
      Vector(() => overwrite(), () => replacePartitions(), () => deleteRows(), () => deleteRows()) ++
      Vector(() => updateRows(), () => rewrite(), () => rewriteManifests(), () => rollBack())

  def run(count: Int): Unit = {
    append()
    (1 to count).foreach(_ => steps(random.nextInt(steps.size))())
  }

  private def fastAppend(): Unit = {
    val files = Vector(newFile(), newFile())
    pair.onBoth("fast append")(new FastAppend(files)) { t =>
      val append = t.newFastAppend()
      files.foreach(f => append.appendFile(pair.data(f)))
      append.commit()
    }
  }

  private def append(): Unit = {
    val files = Vector(newFile(), newFile())
    pair.onBoth("append")(new MergeAppend(files)) { t =>
      val append = t.newAppend()
      files.foreach(f => append.appendFile(pair.data(f)))
      append.commit()
    }
  }

  private def deleteByFilter(): Unit = {
    // The filter must match a file: if nothing is deleted, only Apache Iceberg creates a snapshot.
    val c = data.headOption.fold("a")(categoryOf)
    if (data.nonEmpty) pair.onBoth(s"delete $c")(new DeleteFiles(category(c))) { t =>
      t.newDelete().deleteFromRowFilter(Theirs.equal("category", c)).commit()
    }
  }

  private def remove(): Unit = if (data.nonEmpty) {
    val removedFiles = someOf(data, 2)
    pair.onBoth("remove files")(new RemoveFiles(removedFiles.map(_.path).toSet)) { t =>
      val delete = t.newDelete()
      removedFiles.foreach(f => delete.deleteFile(f.path))
      delete.commit()
    }
  }

  private def overwrite(): Unit = if (data.nonEmpty) {
    val old = someOf(data, 2)
    val added = old.map(f => newFile(categoryOf(f)))
    pair.onBoth("overwrite files")(new OverwriteFiles(AlwaysFalse, added, removed = old)) { t =>
      val overwrite = t.newOverwrite()
      old.foreach(f => overwrite.deleteFile(pair.data(f)))
      added.foreach(f => overwrite.addFile(pair.data(f)))
      overwrite.commit()
    }
  }

  private def replacePartitions(): Unit = {
    val files = Vector(newFile())
    pair.onBoth("replace partitions")(new ReplacePartitions(files)) { t =>
      val replace = t.newReplacePartitions()
      files.foreach(f => replace.addFile(pair.data(f)))
      replace.commit()
    }
  }

  private def deletesOf(file: ContentFile): ContentFile = {
    fileCount += 1
    if (version == V2) positionDeletes(s"d$fileCount", file) else vector(s"d$fileCount.puffin", file)
  }

  private def withoutVector: Vector[ContentFile] = {
    val withVector = live.flatMap(_.referencedDataFile).toSet
    data.filterNot(f => withVector(f.path))
  }

  private def deleteRows(): Unit = if (withoutVector.nonEmpty) {
    val deletes = someOf(withoutVector, 2).map(deletesOf)
    pair.onBoth("delete rows")(new RowDelta(deletes)) { t =>
      val delta = t.newRowDelta()
      deletes.foreach(d => delta.addDeletes(pair.deletes(d)))
      delta.commit()
    }
  }

  private def updateRows(): Unit = if (withoutVector.nonEmpty) {
    val (deletes, rows) = (someOf(withoutVector, 1).map(deletesOf), Vector(newFile()))
    pair.onBoth("change rows")(new RowDelta(rows ++ deletes)) { t =>
      val delta = t.newRowDelta()
      rows.foreach(f => delta.addRows(pair.data(f)))
      deletes.foreach(d => delta.addDeletes(pair.deletes(d)))
      delta.commit()
    }
  }

  private def rewrite(): Unit = if (data.nonEmpty) {
    val old = someOf(data, 3).groupBy(_.partition).head._2
    val added = Vector(newFile(categoryOf(old.head)).copy(recordCount = old.map(_.recordCount).sum))
    val number = pair.ours.table.currentSnapshot.get.sequenceNumber
    pair.onBoth("rewrite")(new RewriteFiles(old, added, head)) { t =>
      val rewrite = t.newRewrite().validateFromSnapshot(peerHead).dataSequenceNumber(number)
      old.foreach(f => rewrite.deleteFile(pair.data(f)))
      added.foreach(f => rewrite.addFile(pair.data(f)))
      rewrite.commit()
    }
  }

  private def rewriteManifests(): Unit = {
    val before = pair.ours.table.metadata.snapshots.size
    pair.ours.commit(new RewriteManifests())
    if (pair.ours.table.metadata.snapshots.size > before) {
      pair.theirs.rewriteManifests().clusterBy(_ => "").commit()
      pair.assertSameTables("rewrite manifests")
    }
  }

  private def rollBack(): Unit = {
    val ancestors = pair.ours.table.metadata.ancestors(pair.ours.table.currentSnapshot.get).toVector
    if (ancestors.size > 2 && random.nextInt(3) == 0) {
      val n = pair.ours.table.metadata.snapshots.indexWhere(_.snapshotId == ancestors(1).snapshotId)
      pair.onBoth("roll back")(new RollbackToSnapshot(pair.ourId(n))) { t =>
        t.manageSnapshots().rollbackTo(pair.peerSnapshotId(n)).commit()
      }
    }
  }
}
