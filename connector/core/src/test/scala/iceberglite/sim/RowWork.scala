package iceberglite.sim

import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.table.{Isolation, IsolationLevel}
import iceberglite.table.action.{RemoveFiles, RewriteFiles, RewriteManifests, RowDelta}

/** Operations on single rows and on the files that contain them. */
object RowWork {
  private def isolation(desk: Desk): Option[Isolation] =
    desk.oneOf(IsolationLevel.all).map(Isolation(_, desk.metadata.currentSnapshotId))

  /** Chooses a few live rows of some files. */
  private def someRows(desk: Desk): Map[String, Set[Int]] = {
    val files = desk.rows.live.toVector.filter(_._2.nonEmpty).sortBy(_._1)
    desk.random.shuffle(files).take(1 + desk.random.nextInt(2)).map { case (path, live) =>
      path -> desk.random.shuffle(live.toVector.sorted).take(1 + desk.random.nextInt(2)).toSet
    }.toMap
  }

  /**
   * Delete files for rows: from version 3 on one vector each, including earlier deletes, otherwise a position delete
   * file.
   */
  final private class Deletes(desk: Desk, rows: Map[String, Set[Int]]) {
    private val entries = desk.entries.filter(_.isLive)
    private val files = entries.filter(e => e.file.content == Content.Data).map(e => e.file.path -> e.file).toMap

    def isVectors: Boolean = desk.metadata.formatVersion >= FormatVersion.V3

    /** The delete files that new vectors replace. */
    val removed: Vector[ContentFile] =
      if (!isVectors) Vector.empty
      else entries.map(_.file).filter(f => f.isDeletionVector && f.referencedDataFile.exists(rows.contains))

    lazy val added: Vector[ContentFile] = if (isVectors) vectors else rows.keys.toVector.sorted.map(positions)

    private def vectors: Vector[ContentFile] = {
      val path = desk.newPath("deletes", ".puffin")
      val deleted = rows.toVector.sortBy(_._1).map { case (data, _) =>
        val all = desk.contents.file(data).ids.indices.toSet -- desk.rows.live(data) ++ rows(data)
        DeletedRows(
          data,
          files(data).specId,
          files(data).partition,
          DeletionVector.of(all.toSeq.sorted.map(_.toLong): _*)
        )
      }
      DeletionVectorFiles.write(desk.io, path, deleted)
    }

    private def positions(data: String): ContentFile = {
      val path = desk.newPath("deletes", ".parquet")
      desk.writePlaceholder(path)
      desk.contents.keepPositions(path, Map(data -> rows(data)))
      val of = files(data)
      ContentFile(
        Content.PositionDeletes,
        path,
        FileFormat.Parquet,
        of.specId,
        of.partition,
        rows(data).size.toLong,
        100L,
        Metrics.Empty,
        referencedDataFile = if (desk.chance(0.5)) Some(data) else None
      )
    }
  }

  private def deletesRows(desk: Desk): Boolean = desk.metadata.formatVersion >= FormatVersion.V2

  /** DELETE. */
  private object DeleteRows extends Work {
    override def name: String = "delete rows"
    override def weight: Int = 5

    override def plan(desk: Desk): Option[Plan] =
      Some(someRows(desk)).filter(r => r.nonEmpty && deletesRows(desk)).map {
        rows =>
          val deletes = new Deletes(desk, rows)
          val how = isolation(desk)
          val action = new RowDelta(deletes.added, deletes.removed, how, affectedDataFiles = rows.keySet)
          Plan(Vector(action), Vector(Effect.RowsDeleted(rows, Vector.empty, how.map(_.level))))
      }
  }

  /** UPDATE and MERGE: deletes some rows and adds them again in new files. */
  private object UpdateRows extends Work {
    override def name: String = "update rows"
    override def weight: Int = 3

    override def plan(desk: Desk): Option[Plan] =
      Some(someRows(desk)).filter(r => r.nonEmpty && deletesRows(desk)).map {
        rows =>
          val deletes = new Deletes(desk, rows)
          val files = rows.keys.toVector.sorted.map(path => desk.newFile(desk.contents.file(path).category))
          val how = isolation(desk)
          val added = files.map(_.file) ++ deletes.added
          val action = new RowDelta(added, deletes.removed, how, isRowByRow = true, affectedDataFiles = rows.keySet)
          Plan(Vector(action), Vector(Effect.RowsDeleted(rows, files, how.map(_.level))))
      }
  }

  /** Equality deletes, as written by streams: they apply to whatever rows have these ids at commit time. */
  private object DeleteKeys extends Work {
    override def name: String = "delete keys"

    override def plan(desk: Desk): Option[Plan] =
      desk.oneOf(desk.rows.live.keys.toVector.sorted).filter(_ => deletesRows(desk)).map { path =>
        val data = desk.contents.file(path)
        val ids = desk.random.shuffle(data.ids).take(2).toSet
        val name = desk.newPath("keys", ".parquet")
        desk.writePlaceholder(name)
        desk.contents.keepKeys(name, ids)
        val file = data.file.copy(
          content = Content.EqualityDeletes,
          path = name,
          recordCount = ids.size.toLong,
          metrics = Metrics.Empty,
          equalityIds = Vector(1)
        )
        Plan(Vector(new RowDelta(Vector(file))), Vector(Effect.KeysDeleted(file, ids)))
      }
  }

  /** Compaction: writes the live rows of some files of a category to one new file. */
  private object Compact extends Work {
    override def name: String = "rewrite files"
    override def weight: Int = 4

    override def plan(desk: Desk): Option[Plan] = for {
      since <- desk.metadata.currentSnapshotId
      category <- desk.oneOf(Desk.Categories)
      paths = desk.random.shuffle(desk.contents.inCategory(desk.rows, category)).take(3)
      ids = paths.flatMap(p => desk.rows.live(p).toVector.sorted.map(desk.contents.file(p).ids))
      if ids.nonEmpty
    } yield {
      val entries = desk.entries.filter(_.isLive).map(_.file)
      val gone = paths.toSet
      val removed = entries.filter { f =>
        gone(f.path) || f.isDeletionVector && f.referencedDataFile.exists(gone)
      }
      val compacted = desk.dataFile(category, ids)
      val action = new RewriteFiles(removed, Vector(compacted.file), since)
      Plan(Vector(action), Vector(Effect.Rewritten(gone, compacted)))
    }
  }

  private object Manifests extends Work {
    override def name: String = "rewrite manifests"

    override def plan(desk: Desk): Option[Plan] =
      desk.metadata.currentSnapshotId.map(_ => Plan(Vector(new RewriteManifests()), Vector(Effect.Regrouped)))
  }

  private object Remove extends Work {
    override def name: String = "remove files"
    override def weight: Int = 1

    override def plan(desk: Desk): Option[Plan] = desk.oneOf(desk.rows.live.keys.toVector.sorted).map { path =>
      Plan(Vector(new RemoveFiles(Set(path))), Vector(Effect.FilesRemoved(Set(path))))
    }
  }

  val all: Seq[Work] = Seq(DeleteRows, UpdateRows, DeleteKeys, Compact, Manifests, Remove)
}
