package iceberglite.scan

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.data.Record
import iceberglite.maintenance.{ComputeBloomIndex, ComputeTableStatistics, FileFilters}
import iceberglite.maintenance.health.StatisticsHealth
import iceberglite.puffin.{NewBlob, PuffinFile, ThetaSketch}
import iceberglite.spec.IcebergError.{CommitConflict, ValidationFailed}
import iceberglite.spec.expr.{Expression, Term}
import iceberglite.spec.expr.Expression.{AlwaysTrue, Equal}
import iceberglite.spec.file.{ContentFile, Metrics}
import iceberglite.spec.metadata.{BlobMetadata, BlobType, StatisticsFile, TableMetadata}
import iceberglite.spec.partition.{Bucket, Identity, PartitionField, PartitionSpec, PartitionTuple, Transform}
import iceberglite.spec.types.Literal.{LongLiteral, StringLiteral}
import iceberglite.spec.update.MetadataUpdate.SetProperties
import iceberglite.table.{Change, CommitContext, MetadataAction, Table, TestTables}
import iceberglite.table.action.{SetStatistics, UpdateProperties}

/** Tests which filters are computed, stored and read for a Bloom index. */
class BloomIndexUpkeepSuite extends AnyFunSuite with BloomIndexFixture {
  test("the columns of an index are read from the name of its file, however long the name is") {
    def file(path: String) = StatisticsFile(1L, path, 1L, 1L, None, Vector.empty)
    def ids(path: String): Set[Int] = BloomIndex.fieldIdsOf(file(path))
    val most = Vector.tabulate(BloomIndex.MaxColumns)(Int.MaxValue - _)
    val blob = NewBlob(BlobMetadata(BlobType.BloomIndex, 1L, 1L, most, Map.empty), Array.empty)
    for ((marked, isPartial) <- Seq(blob -> false, BloomIndex.withPartialMark(blob) -> true)) {
      val path = s"mem://t/1-u${BloomIndex.namePart(Vector(marked.metadata))}.stats"
      assert(ids(path) == most.toSet && BloomIndex.isPartial(file(path)) == isPartial)
    }
    assert(ids("-bloom-0.stats") == Set(0))
    val hostile = Seq("-bloom-", "-1", "-bloom-1", "9", "-", "\n").map(_ * 200000)
    for (start <- hostile; end <- Seq("-bloom-4.stats", "/x-bloom-4.stats"))
      assert(ids(start + end) == Set(4), end)
    hostile.foreach(middle => assert(ids(s"-bloom-1$middle.stats").forall(id => id == 1 || id == 11)))
    Seq("-bloom-.stats", "-bloom--1.stats", "-bloom-9999999999.stats", "-bloom-1.stat", "-bloom-x.stats", "stats", "")
      .foreach(path => assert(ids(path).isEmpty, path))
  }

  test("the smallest filters are used, as many as the limit allows; none is used if the data files are smaller") {
    val t = new Indexed(Vector(id), "id")
    val large = t.write((0 until 2000).map(i => Record.of(2L * i)))
    val small = (0 until 4).map(i => t.write(Seq(Record.of(2L * i))))
    t.actions.append(large +: small: _*)
    t.index()
    def found(maxBytes: Int): Set[String] = {
      t.actions.commit(new UpdateProperties(Map("iceberg-lite.bloom-index.max-read-bytes" -> maxBytes.toString)))
      t.plan(equal(7)).toSet
    }
    val directory = 5 * 32 + 4
    assert(found(directory + 4 * 32 + 2528).isEmpty && found(directory + 4 * 32) == Set(large.path))
    assert(found(directory + 3 * 32).size == 2 && found(directory - 1).size == 5)
    val tiny = (0 until 5).map(i => TestTables.file(s"mem://t/tiny$i").copy(fileSizeInBytes = 20, recordCount = 1))
    val u = new Indexed(Vector(id), "id")
    u.actions.append(tiny.map(_.copy(metrics = Metrics.Empty)): _*)
    val blobs = ComputeBloomIndex(u.table, u.table.currentSnapshot.get, new Numbered)
    ComputeTableStatistics.register(u.table, u.table.currentSnapshot.get, Vector.empty, others = blobs)
    val io = new CountingRanges(u.actions.store)
    assert(
      u.plan(equal(7), io = io).size == 5 && io.bytes.get < 1000,
      "no filter must be read, because the directory is larger than all files"
    )
  }

  test("a wrong record count does not make a batch of files larger than allowed") {
    val t = new Indexed(Vector(id), "id")
    val files = (0 until 1500).map(i => TestTables.file(s"mem://t/f$i").copy(recordCount = 0, metrics = Metrics.Empty))
    t.actions.append(files: _*)
    val batches = new Numbered
    ComputeBloomIndex(t.table, t.table.currentSnapshot.get, batches)
    assert(batches.sizes.result() == Vector(1000, 500))
  }

  test("the filter of a column with a partition value excludes nothing, because a file may have another value") {
    val t = new Indexed(Vector(id, name), "id,name")
    val file = t.ids(1, 2)
    val filters = new FileFilters(t.actions.store, Map.empty, None, t.table.schema, Vector(id, name), 1 << 20)
    def excludes(transform: Transform): Vector[Boolean] = {
      val spec = PartitionSpec(0, Vector(PartitionField(1, 1000, "p", transform)))
      val partitioned = file.copy(partition = PartitionTuple(Vector(Some(LongLiteral(1)))))
      filters.of(FileScanTask.whole(partitioned, 1L, spec, AlwaysTrue, 1L)).map(!_.excludesNothing)
    }
    assert(excludes(Identity) == Vector(false, true) && excludes(Bucket(4)) == Vector(true, true))
  }

  test("extending an index adds only the filters of the given added files, and marks the index as incomplete") {
    val t = new Indexed(Vector(id), "id")
    def extended(added: ContentFile*): Vector[NewBlob] =
      ComputeBloomIndex.extended(t.table, t.table.currentSnapshot.get, added.map(_.path).toSet, t)
    def isOld = StatisticsHealth.of(t.table.metadata).isBloomIndexOld
    val Vector(a, b, c) = Vector(t.ids(1, 10), t.ids(2, 20), t.ids(3, 30))
    t.actions.append(a)
    assert(extended(a).isEmpty && t.read.get == 0, "nothing must be computed, because there is no index")
    t.index()
    t.actions.append(b, c)
    val partial = extended(b)
    assert(t.read.get == 2)
    ComputeTableStatistics.register(t.table, t.table.currentSnapshot.get, Vector.empty, others = partial)
    assert(isOld && t.plan(equal(1)).toSet == Set(a.path, c.path) && t.plan(equal(2)).toSet == Set(b.path, c.path))
    t.index()
    assert(t.read.get == 3 && !isOld && t.plan(equal(1)) == Vector(a.path))
    t.actions.commit(new UpdateProperties(Map("iceberg-lite.bloom-index.max-filter-bytes" -> "4096")))
    t.actions.append(t.ids(4))
    val error = intercept[ValidationFailed](extended(t.ids(5)))
    assert(error.message.startsWith("The Bloom index of column id was computed with another value of"))
    assert(t.plan(equal(1)).size == 2, "the index must not be replaced by one of only the added file")
  }

  test("the health of a table is computed even if its list of indexed columns is invalid") {
    val t = indexed()
    assert(StatisticsHealth.of(t.table.metadata).isIndexed)
    // Other engines do not check the value.
    t.actions.commit(new MetadataAction {
      override def changeFor(base: TableMetadata, context: CommitContext): Change =
        Change(Vector(SetProperties(Map(columns -> " ,"))), Vector.empty)
    })
    val health = StatisticsHealth.of(t.table.metadata)
    assert(!health.isIndexed && !health.isBloomIndexOld)
  }

  test("if not all filters of several columns may be read, the smallest of all columns are read") {
    val t = new Indexed(Vector(id, name), "id,name")
    val files = (0 until 3).map(k => t.write((0 until 1000).map(i => Record.of(2L * (1000 * k + i), s"n$k"))))
    t.actions.append(files: _*)
    t.index()
    // The directories, all filters of names, and two filters of ids
    val limit = 2 * (3 * 32 + 4) + 3 * 32 + 2 * 1264
    t.actions.commit(new UpdateProperties(Map("iceberg-lite.bloom-index.max-read-bytes" -> limit.toString)))
    val absent = Equal(Term.Named("name"), StringLiteral("x"))
    for (k <- 0 until 3) {
      assert(t.plan(equal(2000L * k)).contains(files(k).path))
      assert(t.plan(Expression.and(absent, equal(2000L * k))).isEmpty, k)
    }
  }

  /** Returns the contents of the blobs of a type in the statistics file of the current snapshot. */
  private def contents(t: Indexed, blobType: String): Vector[(Vector[Int], Vector[Byte])] = {
    val current = t.table.metadata.statistics.find(_.snapshotId == t.table.currentSnapshot.get.snapshotId).get
    val file = PuffinFile.open(t.actions.store, current.statisticsPath)
    file.blobs.filter(_.metadata.blobType == blobType).map(b => b.metadata.fields -> file.read(b).toVector)
  }

  private def foreign(t: Indexed, fieldId: Int): NewBlob = {
    val snapshot = t.table.currentSnapshot.get
    val metadata = BlobMetadata("other-v1", snapshot.snapshotId, snapshot.sequenceNumber, Vector(fieldId), Map.empty)
    NewBlob(metadata, Array(fieldId.toByte, 7))
  }

  private def indexed(): Indexed = {
    val t = new Indexed(Vector(id, name), "id")
    t.actions.append(t.ids(1, 2), t.ids(3))
    t
  }

  test("a new index keeps the other blobs of the file that it replaces, or fails if it cannot read them") {
    val t = indexed()
    val snapshot = t.table.currentSnapshot.get
    def copied = ComputeTableStatistics.existingBlobs(t.table, snapshot)
    val index = ComputeBloomIndex(t.table, snapshot, t)
    val sketch = ThetaSketch.newBuilder.result()
    ComputeTableStatistics.register(t.table, snapshot, Vector(1 -> sketch), others = foreign(t, 2) +: index)
    assert(copied.map(_.metadata.blobType).toSet == Set("other-v1", BlobType.ThetaSketch))
    ComputeTableStatistics.register(t.table, snapshot, Vector.empty, others = index, copied = _ => copied)
    assert(contents(t, "other-v1") == Vector(Vector(2) -> Vector[Byte](2, 7)))
    assert(contents(t, BlobType.ThetaSketch).size == 1 && contents(t, BlobType.BloomIndex).size == 1)
    val file = t.table.metadata.statistics.head
    t.actions.store.delete(file.statisticsPath)
    assert(intercept[ValidationFailed](copied).getSuppressed.nonEmpty)
    t.actions.append(t.ids(4))
    assert(ComputeTableStatistics.existingBlobs(t.table, t.table.currentSnapshot.get).isEmpty)
  }

  test("statistics that another commit registers while an index is computed are copied and not lost") {
    val t = indexed()
    val (base, snapshot) = (t.table, t.table.currentSnapshot.get)
    val index = ComputeBloomIndex(base, snapshot, t)
    ComputeTableStatistics.register(base, snapshot, Vector.empty, others = Vector(foreign(t, 2)))
    var attempts = 0
    def copied(newest: Table): Vector[NewBlob] = {
      val blobs = ComputeTableStatistics.existingBlobs(newest, snapshot)
      attempts += 1
      if (attempts == 1)
        ComputeTableStatistics.register(newest, snapshot, Vector.empty, others = foreign(t, 1) +: blobs)
      blobs
    }
    ComputeTableStatistics.register(base, snapshot, Vector.empty, others = index, copied = copied)
    assert(contents(t, "other-v1").map(_._1).toSet == Set(Vector(1), Vector(2)) && attempts == 2)
    assert(contents(t, BlobType.BloomIndex).size == 1)
    val replaced = t.table.metadata.statistics.head.statisticsPath
    val action = new SetStatistics(t.table.metadata.statistics.head.copy(statisticsPath = "mem://t/s"), Some(None))
    val error = intercept[CommitConflict](t.actions.commit(action))
    assert(error.reason == s"the statistics of the snapshot ${snapshot.snapshotId} were changed by another commit")
    assert(t.table.metadata.statistics.head.statisticsPath == replaced)
  }
}
