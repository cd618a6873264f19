package iceberglite.spark.procedure

import java.nio.file.{Path, Paths}

import org.apache.spark.sql.{AnalysisException, Row, SparkSession}
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{FilesBelow, Sampling}
import iceberglite.spark.SharedSession
import iceberglite.spark.rowlevel.StatementFixture

/** Tests `CALL clone`. */
class CloneSuite extends AnyFunSuite with StatementFixture with AdaptiveSparkPlanHelper {
  // Unlike the session of StatementFixture, this session also has the SQL extensions of Apache Iceberg.
  override lazy val spark: SparkSession = SharedSession.spark

  private val clones = Vector.newBuilder[String]

  /** Sets `gc.enabled` on the clones, so that the suite can purge them at its end. */
  override protected def afterAll(): Unit =
    try clones.result().distinct.filter(spark.catalog.tableExists).foreach(permitPurge)
    finally super.afterAll()

  private def permitPurge(c: String): Unit = {
    sql(s"ALTER TABLE $c SET TBLPROPERTIES ('gc.enabled' = 'true')")
    ()
  }

  /** Creates a table with several specs, schemas and sort orders, and with deleted rows. */
  private def source(version: Int, catalog: String = "lite"): String = {
    val t = newTable(catalog = catalog)
    val mode = if (version == 1) "copy-on-write" else "merge-on-read"
    sql(s"CREATE TABLE $t (id BIGINT, n BIGINT) USING iceberg TBLPROPERTIES " +
      s"('format-version' = '$version', 'write.delete.mode' = '$mode', 'a' = 'b')")
    sql(s"INSERT INTO $t SELECT id, id % 10 FROM range(0, 100, 1, 2)")
    sql(s"ALTER TABLE $t CREATE TAG first")
    sql(s"ALTER TABLE $t ADD COLUMN extra STRING")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    sql(s"ALTER TABLE $t WRITE ORDERED BY n")
    sql(s"INSERT INTO $t SELECT id, id % 10, 'x' FROM range(100, 200, 1, 1)")
    sql(s"DELETE FROM $t WHERE id % 9 = 4")
    t
  }

  private def clone(source: String, table: String, arguments: String*): Row = {
    clones += table
    val Array(catalog, name) = table.split("\\.", 2)
    val all = Seq(s"source_table => '$source'", s"table => '$name'") ++ arguments
    val Seq(row) = rows(s"CALL $catalog.system.clone(${all.mkString(", ")})")
    row
  }

  private def cloned(source: String, arguments: String*): String = {
    val t = newTable(catalog = "litejdbc")
    clone(source, t, arguments: _*)
    t
  }

  private def lineage(version: Int): String = if (version < 3) "" else ", _row_id, _last_updated_sequence_number"

  private def path(location: String): Path = Paths.get(new org.apache.hadoop.fs.Path(location).toUri.getPath)

  /** Returns the paths of all files in the table's location. */
  private def allFiles(t: String): Set[String] =
    FilesBelow.withoutHints(path(live(t).location)).map(_.toString)

  for (version <- Seq(1, 2, 3))
    test(
      s"a clone has the rows, row ids and definition of its source, and no copied files, version $version",
      Sampling.slowInSomeRunsUnless(version == 3): _*
    ) {
      val t = source(version)
      val before = allFiles(t)
      val c = newTable(catalog = "litejdbc")
      val row = clone(t, c)
      val (from, to) = (live(t).metadata, live(c).metadata)
      assert(row.getLong(0) == from.currentSnapshotId.get && row.getString(3) == live(c).metadataLocation)
      assert(Seq(row.getLong(1), row.getLong(2)) ==
        Seq("data_files", "delete_files").map(files => count(s"$t.$files")))
      val query = s"SELECT *${lineage(version)} FROM "
      assert(sorted(query + c) == sorted(query + t))
      assert(sorted(s"SELECT id, n FROM ${inApacheIceberg(c)}") == sorted(s"SELECT id, n FROM $t"))
      assert(to.schemas == from.schemas && to.currentSchemaId == from.currentSchemaId)
      assert(to.specs == from.specs && to.spec == from.spec && to.sortOrder == from.sortOrder)
      assert(to.lastColumnId == from.lastColumnId && to.nextRowId == from.nextRowId && to.uuid != from.uuid)
      assert(to.formatVersion == from.formatVersion)
      assert(to.snapshots.map(_.snapshotId) == from.currentSnapshotId.toVector)
      assert(to.properties == from.properties ++ Map("gc.enabled" -> "false", "iceberg-lite.cloned-from" -> t))
      assert(allFiles(c).map(Paths.get(_).getFileName.toString).forall(_.contains(".metadata.json")))
      assert(allFiles(t) == before)
    }

  test("writes to the clone and to the source do not affect each other", Slow) {
    for (version <- Seq(2, 3)) {
      val t = source(version)
      sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.data.path' = '${newDirectory("data").toUri}')")
      val c = cloned(t)
      val (files, rowsBefore) = (allFiles(t), sorted(s"SELECT * FROM $t"))
      sql(s"INSERT INTO $c VALUES (1000, 1, 'y')")
      sql(s"DELETE FROM $c WHERE id < 10")
      assert(allFiles(t) == files && sorted(s"SELECT * FROM $t") == rowsBefore)
      val own = rows(s"SELECT file_path FROM $c.files").map(_.getString(0)).filter(_.startsWith(live(c).location))
      assert(own.size >= 2)
      sql(s"REFRESH TABLE ${inApacheIceberg(c)}")
      sql(s"INSERT INTO ${inApacheIceberg(c)} VALUES (1001, 1, 'y')")
      sql(s"REFRESH TABLE $c")
      assert(sorted(s"SELECT * FROM $c") == sorted(s"SELECT * FROM ${inApacheIceberg(c)}") && count(
        c,
        "id >= 1000"
      ) == 2)
      if (version == 3) assert(rows(s"SELECT _row_id FROM $c").distinct.size == count(c))
      sql(s"INSERT INTO $t VALUES (2000, 1, 'z')")
      assert(count(c, "id = 2000") == 0)
    }
  }

  for ((from, to) <- Seq("lite" -> "lite", "lite" -> "litejdbc", "litejdbc" -> "litejdbc"))
    test(
      s"dropping, expiring and removing orphans of a clone never deletes files of the source, $from to $to",
      Sampling.slowInSomeRunsUnless(from != to): _*
    ) {
      val t = source(2, from)
      def cloned(): String = {
        val name = newTable(catalog = to)
        clone(t, name)
        name
      }
      val (files, rowsBefore) = (allFiles(t), sorted(s"SELECT * FROM $t"))
      def assertSourceUnchanged(): Unit = assert(allFiles(t) == files && sorted(s"SELECT * FROM $t") == rowsBefore)
      val c = cloned()
      val name = c.split("\\.", 2).last
      for (
        statement <- Seq(
          s"DROP TABLE $c PURGE",
          s"CALL $to.system.expire_snapshots(table => '$name', older_than => current_timestamp())",
          s"CALL $to.system.remove_orphan_files('$name')"
        )
      ) {
        val error = intercept[AnalysisException](sql(statement).collect())
        assert(messages(error).contains("gc.enabled"), statement)
      }
      sql(s"ALTER TABLE $c SET TBLPROPERTIES ('gc.enabled' = 'true')")
      sql(s"INSERT OVERWRITE $c VALUES (1, 1, 'y')")
      val expired = rows(
        s"CALL $to.system.expire_snapshots(table => '$name', older_than => current_timestamp(), retain_last => 1)"
      ).head
      assert((0 until 6).forall(expired.getLong(_) == 0) && expired.getSeq[Row](6).map(_.getLong(1)).sum > 0)
      assertSourceUnchanged()
      sql(s"CALL $to.system.remove_orphan_files(table => '$name', older_than => TIMESTAMP '2020-01-01 00:00:00')")
      assertSourceUnchanged()
      val second = cloned()
      sql(s"ALTER TABLE $second SET TBLPROPERTIES ('gc.enabled' = 'true')")
      Seq(c, second).foreach(table => sql(s"DROP TABLE $table PURGE"))
      assertSourceUnchanged()
      val third = cloned()
      // A file-system catalog deletes the files of a dropped table, and therefore requires `gc.enabled=true`.
      if (to == "lite") permitPurge(third)
      sql(s"DROP TABLE $third")
      assertSourceUnchanged()
    }

  test("removing orphans of the source keeps the files of a clone, and a tag keeps the files that the clone uses") {
    val t = source(2)
    val name = t.split("\\.", 2).last
    sql(s"ALTER TABLE $t CREATE TAG for_clone")
    val c = cloned(t, "ref => 'for_clone'")
    val before = sorted(s"SELECT * FROM $c")
    sql(s"INSERT INTO $c VALUES (1000, 1, 'y')")
    sql(s"INSERT OVERWRITE $t VALUES (1, 1, 'x')")
    sql(s"CALL lite.system.expire_snapshots(table => '$name', older_than => current_timestamp(), retain_last => 1)")
    sql(s"CALL lite.system.remove_orphan_files(table => '$name', older_than => TIMESTAMP '2020-01-01 00:00:00')")
    assert(sorted(s"SELECT * FROM $c WHERE id <> 1000") == before)
  }

  test("after the source has expired the snapshot, the error of a read of the clone names the missing file") {
    val t = source(2)
    val name = t.split("\\.", 2).last
    val c = cloned(t)
    sql(s"INSERT OVERWRITE $t VALUES (1, 1, 'x')")
    sql(s"CALL lite.system.expire_snapshots(table => '$name', older_than => current_timestamp(), retain_last => 1)")
    sql(s"REFRESH TABLE $c")
    val error = messages(intercept[Exception](sql(s"SELECT * FROM $c").collect()))
    assert(error.contains(s"${live(t).location}/metadata/") && error.contains("expired"))
    assert(error.contains(s"$c is a clone of $t"))
    sql(s"DROP TABLE $c")
    assert(count(t) == 1)
  }

  test("arguments select the snapshot, branch or tag that is cloned", Slow) {
    val t = source(2)
    sql(s"ALTER TABLE $t CREATE BRANCH work")
    sql(s"INSERT INTO $t.branch_work VALUES (5000, 0, 'w')")
    val first = live(t).metadata.snapshots.head.snapshotId
    val byId = cloned(t, s"snapshot_id => $first")
    val byTag = cloned(t, "ref => 'first'")
    val byBranch = cloned(t, "ref => 'work'")
    assert(count(byId) == 100 && count(byTag) == 100 && count(byBranch, "id = 5000") == 1)
    // The clone of an old snapshot has the current schema of its source. A rollback keeps the current schema, too.
    assert(sorted(s"SELECT * FROM $byTag").forall(_.endsWith("null]")))
    assert(sorted(s"SELECT * FROM $byTag VERSION AS OF $first") == sorted(s"SELECT * FROM $t VERSION AS OF 'first'"))
    assert(live(byBranch).metadata.refs.keySet == Set("main"))
    val again = cloned(byTag)
    assert(count(again) == 100)
  }

  test("a clone keeps the spec ids of a source that has removed other specs") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, p BIGINT) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD bucket(2, id)")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD p")
    sql(s"ALTER TABLE $t ADD COLUMN x INT")
    sql(s"ALTER TABLE $t DROP COLUMN x")
    sql(s"INSERT OVERWRITE $t VALUES (2, 2), (3, 3)")
    sql(s"CALL lite.system.expire_snapshots(table => '${t.split("\\.", 2).last}', " +
      "older_than => current_timestamp(), retain_last => 1, clean_expired_metadata => true)")
    assert(live(t).metadata.specs.map(_.specId) == Vector(0, 2))
    val c = cloned(t)
    val (from, to) = (live(t).metadata, live(c).metadata)
    assert(to.specs == from.specs && to.lastColumnId == from.lastColumnId)
    sql(s"ALTER TABLE $c ADD COLUMN y INT")
    assert(live(c).schema.fields.last.id == from.lastColumnId + 1)
    assert(sorted(s"SELECT * FROM $c WHERE p = 2") == Seq("[2,2,null]"))
    assert(sorted(s"SELECT id FROM ${inApacheIceberg(c)} WHERE p = 3") == Seq("[3]"))
  }

  /** Returns the numbers of the data files that each scan of a query reads. */
  private def filesRead(query: String): Seq[Long] = {
    val df = sql(query)
    df.collect()
    collect(df.queryExecution.executedPlan) { case s: BatchScanExec => s.metrics("resultDataFiles").value }
  }

  test("a clone of version 4 has the expressions of its source, prunes by them, and both tables can be written", Slow) {
    val t = source(4)
    sql(s"CALL lite.system.create_expression('${t.stripPrefix("lite.")}', 'truncate(2, extra)')")
    sql(s"ALTER TABLE $t ADD PARTITION FIELD truncate(50, n)")
    sql(s"INSERT INTO $t SELECT id, id, 'y' FROM range(200, 300, 1, 2)")
    for (catalog <- Seq("lite", "litejdbc")) {
      val c = newTable(catalog = catalog)
      clone(t, c)
      val (from, to) = (live(t).metadata, live(c).metadata)
      assert(to.expressions == from.expressions && to.expressions.size >= 3 && to.specs == from.specs)
      assert(to.lastColumnId == from.lastColumnId && to.nextRowId == from.nextRowId && to.formatVersion.number == 4)
      def query(table: String, filter: String) = s"SELECT *, _row_id FROM $table WHERE $filter"
      Seq("true", "id = 205", "n >= 250", "id % 9 = 4 OR n = 3").foreach { filter =>
        assert(sorted(query(c, filter)) == sorted(query(t, filter)))
        assert(filesRead(query(c, filter)) == filesRead(query(t, filter)))
      }
      assert(filesRead(query(c, "n >= 250 AND id = 260")).sum < count(s"$c.files"))
      val (ofSource, ofClone) = (sorted(s"SELECT * FROM $t"), sorted(s"SELECT * FROM $c"))
      sql(s"INSERT INTO $c VALUES (1000, 260, 'c')")
      sql(s"DELETE FROM $c WHERE n = 205")
      sql(s"ALTER TABLE $c ADD COLUMN later INT")
      sql(s"ALTER TABLE $c ADD PARTITION FIELD bucket(3, later)")
      sql(s"INSERT INTO $c VALUES (1001, 260, 'c', 7)")
      assert(count(c) == ofClone.size + 1 && count(c, "n = 260 AND id >= 1000") == 2 && count(c, "later = 7") == 1)
      assert(live(c).metadata.expressions.map(_.id).distinct.size == live(c).metadata.expressions.size)
      assert(sorted(s"SELECT * FROM $t") == ofSource)
      val name = c.stripPrefix(s"$catalog.")
      assert(rows(s"CALL $catalog.system.validate_tree('$name')").isEmpty)
      sql(s"INSERT INTO $t VALUES (2000, 1, 'z')")
      assert(count(c, "id = 2000") == 0 && count(t, "id = 2000") == 1)
      sql(s"DELETE FROM $t WHERE id = 2000")
    }
  }

  test("a table without snapshots is cloned, and rows from before version 3 get row ids with the next commit", Slow) {
    val empty = newTable()
    sql(s"CREATE TABLE $empty (id BIGINT) USING iceberg")
    val row = clone(empty, newTable(catalog = "litejdbc"))
    assert(row.isNullAt(0) && row.getLong(1) == 0)
    val t = source(2)
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('format-version' = '3')")
    val c = cloned(t)
    sql(s"INSERT INTO $c VALUES (1000, 1, 'y')")
    val ids = rows(s"SELECT _row_id FROM $c").map(_.get(0))
    assert(!ids.contains(null) && ids.distinct.size == count(c))
  }

  test("wrong arguments are rejected, and no table is created", Slow) {
    val t = source(2)
    val other = cloned(t)
    val c = newTable(catalog = "litejdbc")
    val location = live(t).location
    for (
      (from, arguments, message) <- Seq(
        (t, "snapshot_id => 42", "42"),
        (t, "ref => 'nothing'", "nothing"),
        (t, "ref => 'first', snapshot_id => 1", "Set only one of them"),
        (t, s"location => '$location'", location),
        (t, s"location => '$location/inside'", location),
        (t, s"properties => map('write.data.path', '$location/data')", "write.data.path"),
        (t, "properties => map('gc.enabled', 'true')", "gc.enabled"),
        (t, "properties => map('format-version', '3')", "format-version"),
        (t, "properties => map('iceberg-lite.constraints.c', 'n > 5')", "ADD CONSTRAINT after the clone"),
        (t, "properties => map('write.format.default', 'csv')", "write.format.default"),
        (s"$t.snapshots", "", "Only a table itself"),
        (s"lite.$ns.nothing", "", "nothing"),
        ("spark_catalog.default.x", "", "spark_catalog")
      )
    ) {
      val error = intercept[AnalysisException](clone(from, c, Seq(arguments).filter(_.nonEmpty): _*))
      assert(messages(error).contains(message), messages(error))
    }
    assert(!spark.catalog.tableExists(c))
    val exists = intercept[AnalysisException](clone(t, other))
    assert(messages(exists).toLowerCase.contains("already exists"))
    val fixed = intercept[AnalysisException](clone(t, newTable(), s"location => '${newDirectory().toUri}'"))
    assert(messages(fixed).contains("file-system catalog"))
  }
}
