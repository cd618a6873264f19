package iceberglite.spark.procedure

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

/** Tests `CALL rewrite_data_files` for files of older partition specs, and compares results with Apache Iceberg. */
class RewritePartitionsSuite extends AnyFunSuite with RewriteFixture {
  private val Partitions = 20

  /** Creates an unpartitioned table with eight files. Each has rows of all partitions that the tests define later. */
  private def unpartitioned(version: Int): String = {
    val t = create("id BIGINT, p INT, s STRING", version, "merge-on-read", "write.distribution-mode" -> "none")
    val columns = s"id, CAST(id % $Partitions AS INT), concat(hash(id), hash(id * 7), hash(id * 11))"
    for (i <- 0 until 8) sql(s"INSERT INTO $t SELECT $columns FROM range(${i * 2000}, ${i * 2000 + 2000}, 1, 1)")
    t
  }

  /** Options by which a file group has several tasks, and no task writes the rows of one partition to several files. */
  private val sizes = "'rewrite-all', 'true', 'target-file-size-bytes', '50000', 'max-file-size-bytes', '3000000'"

  private def filesPerPartition(t: String): Seq[Long] =
    rows(s"SELECT count(*) FROM $t.files WHERE content = 0 GROUP BY partition").map(_.getLong(0))

  for (version <- Seq(2, 3); term <- Seq("p", "truncate(p, 1)", "bucket(50, p)"))
    test(s"bin-packing of files of an older spec writes one file for each partition of $term, version $version", Slow) {
      val tables = Seq.fill(2)(unpartitioned(version))
      val sqlTerm = if (term.startsWith("truncate")) "truncate(1, p)" else term
      val before = contents(tables.head, version)
      tables.foreach(t =>
        sql(s"ALTER TABLE ${inApacheIceberg(t)} ADD PARTITION FIELD ${if (term == "p") term else sqlTerm}")
      )
      tables.foreach(t => sql(s"REFRESH TABLE $t"))
      val planned = call(tables.head, s"options => map($sizes)", "dry_run => true")
      val result = call(tables.head, s"options => map($sizes)")
      assert(planned.getInt(1) > 3, "the rewrite must have several tasks")
      val peerResult = callPeer(tables(1), s"options => map($sizes)")
      assert(counts(result) == counts(peerResult))
      assert(filesPerPartition(tables.head).distinct == Seq(1L))
      assert(contents(tables.head, version) == before && contents(inApacheIceberg(tables.head), version) == before)
    }

  for (order <- Seq("id DESC", "zorder(id, s)", "hilbert(id, s)"))
    test(s"sorting files of an older spec by $order sorts by the partition first", Slow) {
      val t = unpartitioned(3)
      val before = contents(t, 3)
      sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
      val tasks = call(t, s"options => map($sizes)", s"sort_order => '$order'", "dry_run => true").getInt(1)
      val result = call(t, s"options => map($sizes)", s"sort_order => '$order'")
      assert(tasks > 3)
      // The rows of a partition may be split between two consecutive tasks, each of which then writes a file.
      assert(result.getInt(1) >= Partitions && result.getInt(1) < Partitions + tasks)
      assert(contents(t, 3) == before)
      if (order == "id DESC") {
        val inFiles = rows(s"SELECT _file, id FROM $t ORDER BY _file, _pos").map(r => (r.getString(0), r.getLong(1)))
        assert(inFiles.zip(inFiles.tail).forall { case (a, b) => a._1 != b._1 || a._2 > b._2 })
      }
    }

  test("output-spec-id selects the spec of the new files", Slow) {
    val tables = Seq.fill(2)(written(2))
    tables.foreach { t =>
      sql(s"ALTER TABLE ${inApacheIceberg(t)} ADD PARTITION FIELD bucket(4, id)")
      sql(s"REFRESH TABLE $t")
    }
    val before = contents(tables.head, 2)
    for (spec <- Seq(2, 1, 0)) {
      val arguments = s"options => map('rewrite-all', 'true', 'output-spec-id', '$spec')"
      val (result, peerResult) = (call(tables.head, arguments), callPeer(tables(1), arguments))
      assert(result.getInt(1) <= peerResult.getInt(1), spec)
      assert(result.getInt(1) == Map(0 -> 1, 1 -> 3, 2 -> 12)(spec), spec)
      assert(rows(s"SELECT DISTINCT spec_id FROM ${tables.head}.files WHERE content = 0").map(_.getInt(0)) == Seq(spec))
      assert(contents(tables.head, 2) == before)
    }
  }

  test("the strategy sort applies the transforms in the sort order of the table") {
    val t = written(2, partitioned = false)
    sql(s"ALTER TABLE $t WRITE ORDERED BY bucket(4, id), id DESC")
    call(t, "strategy => 'sort'", "options => map('rewrite-all', 'true')")
    val keys =
      rows(s"SELECT lite.system.bucket(4, id), -id FROM $t ORDER BY _pos").map(r => (r.getInt(0), r.getLong(1)))
    assert(keys == keys.sorted && keys.map(_._1).distinct.size == 4)
  }
}
