package iceberglite.sim

import iceberglite.puffin.{DeletedRows, DeletionVector, DeletionVectorFiles}
import iceberglite.spec.FormatVersion
import iceberglite.spec.file.{Content, ContentFile, Metrics}
import iceberglite.spec.property.IsolationLevel
import iceberglite.table.conflict.Isolation
import iceberglite.table.action.{RemoveFiles, RewriteManifests, RowDelta}
import iceberglite.table.action.ReadRows

/** Operations of simulated writers that delete or update single rows, remove single files, or rewrite files. */
object RowWork {
  private def isolation(state: WriterState): Option[Isolation] =
    state.oneOf(IsolationLevel.all).map(Isolation(_, state.metadata.currentSnapshotId))

  /** Chooses a few live rows of some files. */
  private def someRows(state: WriterState): Map[String, Set[Int]] = {
    val files = state.rows.live.toVector.filter(_._2.nonEmpty).sortBy(_._1)
    state.random.shuffle(files).take(1 + state.random.nextInt(2)).map { case (path, live) =>
      path -> state.random.shuffle(live.toVector.sorted).take(1 + state.random.nextInt(2)).toSet
    }.toMap
  }

  /**
   * The delete files that delete the given rows. From format version 3 on, there is a deletion vector for each data
   * file, which also contains the earlier deletes of the file. In earlier versions, there is a position delete file for
   * each data file.
   *
   * @param rows positions of the rows to delete, by the path of the data file
   */
  final private class Deletes(state: WriterState, rows: Map[String, Set[Int]]) {
    private val entries = state.entries.filter(_.isLive)
    private val files = entries.filter(e => e.file.content == Content.Data).map(e => e.file.path -> e.file).toMap

    def usesVectors: Boolean = state.metadata.formatVersion >= FormatVersion.V3

    /** The deletion vectors that the new deletion vectors replace. */
    val removed: Vector[ContentFile] =
      if (!usesVectors) Vector.empty
      else entries.map(_.file).filter(f => f.isDeletionVector && f.referencedDataFile.exists(rows.contains))

    lazy val added: Vector[ContentFile] = if (usesVectors) vectors else rows.keys.toVector.sorted.map(positions)

    private def vectors: Vector[ContentFile] = {
      val path = state.newPath("deletes", ".puffin")
      val deleted = rows.toVector.sortBy(_._1).map { case (data, _) =>
        val positions = state.contents.file(data).ids.indices.toSet -- state.rows.live(data) ++ rows(data)
        DeletedRows(
          data,
          files(data).specId,
          files(data).partition,
          DeletionVector.of(positions.toSeq.sorted.map(_.toLong): _*)
        )
      }
      DeletionVectorFiles.write(state.io, path, deleted)
    }

    private def positions(data: String): ContentFile = {
      val path = state.newPath("deletes", ".parquet")
      state.writePlaceholder(path)
      state.contents.keepPositions(path, Map(data -> rows(data)))
      CompactionWork.positionDeletes(
        path,
        files(data),
        rows(data).size.toLong,
        if (state.chance(0.5)) Some(data) else None
      )
    }
  }

  private def deletesRows(state: WriterState): Boolean = state.metadata.formatVersion >= FormatVersion.V2

  /** Deletes some rows, as a DELETE statement does. */
  private object DeleteRows extends Work {
    override def name: String = "delete rows"
    override def weight: Int = 5

    override def plan(state: WriterState): Option[Plan] =
      Some(someRows(state)).filter(r => r.nonEmpty && deletesRows(state)).map {
        rows =>
          val deletes = new Deletes(state, rows)
          val chosen = isolation(state)
          val action = new RowDelta(deletes.added, deletes.removed, chosen, affectedDataFiles = rows.keySet)
          Plan(Vector(action), Vector(Effect.RowsDeleted(rows, Vector.empty, chosen.map(_.level))))
      }
  }

  /** Deletes some rows and adds rows in new files, as an UPDATE or MERGE statement does. */
  private object UpdateRows extends Work {
    override def name: String = "update rows"
    override def weight: Int = 3

    override def plan(state: WriterState): Option[Plan] =
      Some(someRows(state)).filter(r => r.nonEmpty && deletesRows(state)).map {
        rows =>
          val deletes = new Deletes(state, rows)
          val files = rows.keys.toVector.sorted.map(path => state.newFile(state.contents.file(path).category))
          val chosen = isolation(state)
          val added = files.map(_.file) ++ deletes.added
          val action = new RowDelta(
            added,
            deletes.removed,
            chosen,
            ReadRows.All.copy(isRowByRow = true),
            affectedDataFiles = rows.keySet
          )
          Plan(Vector(action), Vector(Effect.RowsDeleted(rows, files, chosen.map(_.level))))
      }
  }

  /**
   * Writes equality deletes, as streaming writers do. The deletes apply to all rows with these ids that the partition
   * of a chosen data file has at the time of the commit.
   */
  private object DeleteKeys extends Work {
    override def name: String = "delete keys"

    override def plan(state: WriterState): Option[Plan] =
      state.oneOf(state.rows.live.keys.toVector.sorted).filter(_ => deletesRows(state)).map { path =>
        val data = state.contents.file(path)
        val ids = state.random.shuffle(data.ids).take(2).toSet
        val name = state.newPath("keys", ".parquet")
        state.writePlaceholder(name)
        state.contents.keepKeys(name, ids)
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

  private object Manifests extends Work {
    override def name: String = "rewrite manifests"

    override def plan(state: WriterState): Option[Plan] =
      state.metadata.currentSnapshotId.map(_ => Plan(Vector(new RewriteManifests()), Vector(Effect.ManifestsRewritten)))
  }

  private object Remove extends Work {
    override def name: String = "remove files"
    override def weight: Int = 1

    override def plan(state: WriterState): Option[Plan] =
      state.oneOf(state.rows.live.keys.toVector.sorted).map { path =>
        Plan(Vector(new RemoveFiles(Set(path))), Vector(Effect.FilesRemoved(Set(path))))
      }
  }

  /** Deletes and updates of single rows. */
  val deletes: Seq[Work] = Seq(DeleteRows, UpdateRows, DeleteKeys)

  /** Removes whole files. */
  val removal: Work = Remove

  val all: Seq[Work] = deletes ++ Seq(CompactionWork.Sometimes, Manifests, removal)
}
