package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.{Catalog, CatalogFixture}
import iceberglite.spec.FormatVersion
import iceberglite.spec.IcebergError._
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression._
import iceberglite.spec.expr.Term.Named
import iceberglite.spec.file.{Content, ContentFile, FileFormat, Metrics}
import iceberglite.spec.partition.{Bucket, PartitionTuple}
import iceberglite.spec.types.Literal
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.table.TestTables._
import iceberglite.table.action.{DeleteFiles, FastAppend, OverwriteFiles, ReplacePartitions, UpdatePartitionSpec}
import iceberglite.tree.{ManifestsOnly, TreeReader}

/** Tests actions that add, replace and remove files. */
class FileActionsSuite extends AnyFunSuite {
  private val inA: Expression = Equal(Named("category"), StringLiteral("a"))

  private def withTable(creation: TableCreation)(body: Table => Unit): Unit =
    CatalogFixture.Hadoop.withStore { store =>
      val catalog: Catalog = CatalogFixture.Hadoop.open(store, store.files)
      body(catalog.create(CatalogFixture.Id, creation))
    }

  private def commit(table: Table, action: Action): Table =
    table.transaction(Map.empty, environment).add(action).commit()

  private def withThreeFiles(table: Table): Table =
    commit(table, new FastAppend(Vector(fileOf("a", "a1"), fileOf("a", "a2"), fileOf("b", "b1"))))

  private def summary(table: Table): Map[String, String] = table.currentSnapshot.get.summary

  test("an append adds files and records them in the summary") {
    withTable(byCategory()) { empty =>
      val table = withThreeFiles(empty)
      assert(liveFiles(table) == Vector("a1", "a2", "b1"))
      val s = summary(table)
      assert(s("operation") == "append")
      assert(s("added-data-files") == "3" && s("added-records") == "30" && s("added-files-size") == "3000")
      assert(s("changed-partition-count") == "2")
      assert(s("total-data-files") == "3" && s("total-records") == "30" && s("total-files-size") == "3000")
      assert(s("total-delete-files") == "0" && s("total-position-deletes") == "0" && s("total-equality-deletes") == "0")
      assert(!s.contains("deleted-data-files"), "a count of zero must be left out")
      assert(s.contains(CommitContext.CommitIdKey))
    }
  }

  test("the totals in the summary are computed from the totals of the parent snapshot") {
    withTable(byCategory()) { empty =>
      val s = summary(commit(withThreeFiles(empty), new FastAppend(Vector(fileOf("c", "c1", records = 5)))))
      assert(s("total-data-files") == "4" && s("total-records") == "35" && s("total-files-size") == "3500")
    }
  }

  test("properties of the engine are added to the summary, but do not override counts") {
    withTable(byCategory()) { table =>
      val engine = Map("engine-name" -> "spark", "spark.app.id" -> "app-1", "total-records" -> "-1")
      val s = summary(table.transaction(engine, environment).add(new FastAppend(Vector(fileOf("a", "a1")))).commit())
      assert(s("engine-name") == "spark" && s("spark.app.id") == "app-1")
      assert(s("total-records") == "10")
    }
  }

  test("partitions are listed in the summary if the table property is set") {
    withTable(byCategory("write.summary.partition-limit" -> "2")) { empty =>
      val table = commit(empty, new FastAppend(Vector(fileOf("a/b c", "a1"))))
      val s = summary(table)
      assert(s("partition-summaries-included") == "true")
      assert(s("partitions.category=a%2Fb+c") == "added-data-files=1,added-files-size=1000,added-records=10")
      val many = commit(table, new FastAppend(Vector(fileOf("x", "x"), fileOf("y", "y"), fileOf("z", "z"))))
      assert(!summary(many).keys.exists(_.startsWith("partitions.")), "three partitions are above the limit")
    }
  }

  test("a snapshot has its parent, the next sequence number and the current schema") {
    withTable(byCategory()) { empty =>
      val first = withThreeFiles(empty)
      val second = commit(first, new FastAppend(Vector(fileOf("c", "c1"))))
      val snapshot = second.currentSnapshot.get
      assert(snapshot.parentSnapshotId == first.metadata.currentSnapshotId)
      assert(snapshot.sequenceNumber == 2 && second.metadata.lastSequenceNumber == 2)
      assert(snapshot.snapshotId > 0)
      assert(snapshot.schemaId.contains(second.metadata.currentSchemaId))
      val hasRowIds = second.metadata.formatVersion >= FormatVersion.V3
      assert(snapshot.firstRowId.isDefined == hasRowIds && snapshot.addedRows.isDefined == hasRowIds)
    }
  }

  test("the sequence numbers of a version 1 table are 0") {
    withTable(byCategory("format-version" -> "1")) { empty =>
      val table = commit(withThreeFiles(empty), new FastAppend(Vector(fileOf("c", "c1"))))
      assert(table.metadata.formatVersion == FormatVersion.V1)
      assert(table.metadata.snapshots.map(_.sequenceNumber) == Vector(0L, 0L))
      assert(liveFiles(table) == Vector("a1", "a2", "b1", "c1"))
    }
  }

  test("a snapshot of a version 3 table assigns row ids") {
    withTable(byCategory("format-version" -> "3")) { empty =>
      val table = commit(withThreeFiles(empty), new FastAppend(Vector(fileOf("c", "c1", records = 5))))
      assert(table.metadata.snapshots.map(_.firstRowId) == Vector(Some(0L), Some(30L)))
      assert(table.metadata.snapshots.map(_.addedRows) == Vector(Some(30L), Some(5L)))
      assert(table.metadata.nextRowId == 35)
    }
  }

  test("a random snapshot id is drawn again if it is zero or already used, and is never negative") {
    withTable(byCategory()) { empty =>
      val table = withThreeFiles(empty)
      val usedId = table.currentSnapshot.get.snapshotId
      val ids = Iterator(usedId, 0L, Long.MinValue, -7L)
      val loaded = environment.copy(randomLong = () => ids.next())
      val next = table.transaction(Map.empty, loaded).add(new FastAppend(Vector(fileOf("c", "c1")))).commit()
      assert(next.currentSnapshot.get.snapshotId == (-7L & Long.MaxValue))
    }
  }

  test("an overwrite by filter replaces only the files that match the filter") {
    withTable(byCategory()) { empty =>
      val table = commit(withThreeFiles(empty), new OverwriteFiles(inA, Vector(fileOf("a", "a3"))))
      assert(liveFiles(table) == Vector("a3", "b1"))
      val s = summary(table)
      assert(s("operation") == "overwrite")
      assert(s("deleted-data-files") == "2" && s("deleted-records") == "20" && s("removed-files-size") == "2000")
      assert(s("added-data-files") == "1" && s("total-data-files") == "2" && s("total-records") == "20")
      assert(s("changed-partition-count") == "1")
    }
  }

  test("an overwrite without new files is a delete, and an overwrite that removes no files is an append") {
    withTable(byCategory()) { empty =>
      val table = withThreeFiles(empty)
      assert(summary(commit(table, new OverwriteFiles(inA, Vector.empty)))("operation") == "delete")
      val other = Equal(Named("category"), StringLiteral("zz"))
      val appended = commit(table.refresh(), new OverwriteFiles(other, Vector(fileOf("zz", "z1"))))
      assert(summary(appended)("operation") == "append")
    }
  }

  test("an overwrite of everything leaves only the new files") {
    withTable(byCategory()) { empty =>
      val table = commit(withThreeFiles(empty), new OverwriteFiles(AlwaysTrue, Vector(fileOf("c", "c1"))))
      assert(liveFiles(table) == Vector("c1"))
    }
  }

  test("the error for overwriting a partially matching file names the file") {
    withTable(byCategory()) { empty =>
      val table = withThreeFiles(empty)
      val filter = LessThan(Named("id"), LongLiteral(50))
      val error = intercept[ValidationFailed](commit(table, new OverwriteFiles(filter, Vector(fileOf("c", "c1")))))
      assert(error.getMessage.contains("id < 50") && error.getMessage.contains("1 may also have rows"))
      assert(table.refresh().metadataLocation == table.metadataLocation)
    }
  }

  test("a delete removes the files for which metrics prove that every row matches") {
    withTable(unpartitioned()) { empty =>
      val table = commit(empty, new FastAppend(Vector(file("low", ids = (0, 9)), file("high", ids = (10, 19)))))
      val deleted = commit(table, new DeleteFiles(LessThan(Named("id"), LongLiteral(10))))
      assert(liveFiles(deleted) == Vector("high"))
      assert(summary(deleted)("operation") == "delete")
      val error = intercept[ValidationFailed](commit(deleted, new DeleteFiles(LessThan(Named("id"), LongLiteral(15)))))
      assert(error.getMessage.contains("high") && error.getMessage.contains("Delete single rows with DELETE"))
    }
  }

  test("a delete that matches nothing commits nothing and leaves no files") {
    withTable(byCategory()) { empty =>
      val table = withThreeFiles(empty)
      val store = table.io.asInstanceOf[MemoryFileIO]
      val before = store.paths
      val same = commit(table, new DeleteFiles(Equal(Named("category"), StringLiteral("zz"))))
      assert(same.metadataLocation == table.metadataLocation)
      assert(store.paths == before)
    }
  }

  test("the error for a filter on a missing column lists the columns") {
    withTable(byCategory()) { table =>
      val error = intercept[NotFound](commit(table, new DeleteFiles(Equal(Named("nope"), LongLiteral(1)))))
      assert(error.getMessage.contains("id, category"))
    }
  }

  test("replacing partitions keeps other partitions, and is recorded in the summary") {
    withTable(byCategory()) { empty =>
      val table = commit(withThreeFiles(empty), new ReplacePartitions(Vector(fileOf("a", "a3"), fileOf("c", "c1"))))
      assert(liveFiles(table) == Vector("a3", "b1", "c1"))
      val s = summary(table)
      assert(s("operation") == "overwrite" && s("replace-partitions") == "true")
      assert(s("deleted-data-files") == "2" && s("added-data-files") == "2")
    }
  }

  test("replacing the null partition keeps other partition values") {
    withTable(byCategory()) { empty =>
      val nulls = fileOf("x", "n1").copy(partition = PartitionTuple(Vector(None)))
      val table = commit(withThreeFiles(empty), new FastAppend(Vector(nulls)))
      val replaced = commit(table, new ReplacePartitions(Vector(nulls.copy(path = "n2"))))
      assert(liveFiles(replaced) == Vector("a1", "a2", "b1", "n2"))
    }
  }

  test("replacing partitions of an unpartitioned table replaces all files") {
    withTable(unpartitioned()) { empty =>
      val table = commit(empty, new FastAppend(Vector(file("x"), file("y"))))
      assert(liveFiles(commit(table, new ReplacePartitions(Vector(file("z"))))) == Vector("z"))
    }
  }

  test("replacing partitions of a newer partition spec keeps the files of an older partition spec") {
    withTable(byCategory()) { empty =>
      val evolved = commit(withThreeFiles(empty), new UpdatePartitionSpec(_.addField(Vector("id"), Bucket(4), None)))
      val spec = evolved.spec
      assert(spec.specId == 1)
      val tuple = PartitionTuple(Vector(Some(StringLiteral("a")), Some(Literal.IntLiteral(1))))
      val newer = fileOf("a", "new1").copy(specId = 1, partition = tuple)
      val table = commit(evolved, new FastAppend(Vector(newer)))
      val replaced = commit(table, new ReplacePartitions(Vector(newer.copy(path = "new2"))))
      assert(liveFiles(replaced) == Vector("a1", "a2", "b1", "new2"))
      assert(liveFiles(commit(replaced, new DeleteFiles(inA))) == Vector("b1"), "a filter applies to all specs")
    }
  }

  test("a file with an unknown partition spec is rejected") {
    withTable(byCategory()) { table =>
      intercept[NotFound](commit(table, new FastAppend(Vector(fileOf("a", "x").copy(specId = 7)))))
    }
  }

  test("the summary counts the created manifests and the kept manifests", ManifestsOnly) {
    withTable(byCategory()) { empty =>
      val first = withThreeFiles(empty)
      assert(summary(first)("manifests-created") == "1" && summary(first)("manifests-kept") == "0")
      val second = commit(first, new FastAppend(Vector(fileOf("c", "c1"))))
      assert(summary(second)("manifests-created") == "1" && summary(second)("manifests-kept") == "1")
    }
  }

  /** Commits delete files in a snapshot with the operation `append`, as other engines may do. */
  private def withDeletes(table: Table, deletes: ContentFile*): Table = commit(table, new FastAppend(deletes.toVector))

  private def liveDeletes(table: Table): Vector[String] = {
    val files = new TreeReader(table.io, table.metadata).live.map(_.file).filter(_.content != Content.Data)
    files.map(f => f.referencedDataFile.getOrElse(f.path)).sorted
  }

  test("removing the data files of a partition also removes the delete files of this partition only") {
    withTable(byCategory("format-version" -> "2")) { empty =>
      def deletes(c: String) = fileOf(c, s"deletes-$c", records = 3).copy(content = Content.PositionDeletes)
      val table = withDeletes(withThreeFiles(empty), deletes("a"), deletes("b"))
      assert(summary(table)("total-position-deletes") == "6" && summary(table)("added-position-delete-files") == "2")
      Seq(new DeleteFiles(inA), new ReplacePartitions(Vector(fileOf("a", "a3")))).foreach { action =>
        val after = commit(table.refresh(), action)
        assert(liveDeletes(after) == Vector("deletes-b"))
      }
      val s = table.refresh().metadata.snapshots(2).summary
      assert(s("removed-delete-files") == "1" && s("removed-position-deletes") == "3" && s("total-delete-files") == "1")
    }
  }

  test("removing a data file also removes its deletion vector, but not the vectors of other files") {
    withTable(unpartitioned("format-version" -> "3")) { empty =>
      val table = commit(empty, new FastAppend(Vector(file("low", ids = (0, 9)), file("high", ids = (10, 19)))))
      def vector(of: String, at: Long) = file("vectors.puffin", records = 2).copy(
        content = Content.PositionDeletes,
        format = FileFormat.Puffin,
        metrics = Metrics.Empty,
        referencedDataFile = Some(of),
        contentOffset = Some(at),
        contentSizeInBytes = Some(40)
      )
      val touched = withDeletes(table, vector("low", 4), vector("high", 44))
      val deleted = commit(touched, new DeleteFiles(LessThan(Named("id"), LongLiteral(10))))
      assert(liveDeletes(deleted) == Vector("high"))
      val s = summary(deleted)
      assert(s("removed-dvs") == "1" && s("removed-files-size") == "1040" && s("total-position-deletes") == "2")
    }
  }
}
