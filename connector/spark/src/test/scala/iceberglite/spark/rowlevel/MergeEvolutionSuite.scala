package iceberglite.spark.rowlevel

import org.apache.spark.sql.AnalysisException
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spec.types.Type.StringType
import iceberglite.table.action.UpdateSchema

/** Checks how MERGE WITH SCHEMA EVOLUTION adds columns of the source that the table lacks. */
class MergeEvolutionSuite extends AnyFunSuite with StatementFixture {

  private def columns(t: String): Seq[String] =
    live(t).schema.fields.map(f => s"${f.name} ${f.fieldType}${if (f.required) " required" else ""}")

  private def snapshotsAndVersions(t: String): (Long, Int) =
    (count(s"$t.snapshots"), live(t).metadata.metadataLog.size)

  /** Returns the rows of a table, after checking that Apache Iceberg reads the same rows. */
  private def read(t: String, columns: String = "*"): Seq[String] = {
    assert(sorted(s"SELECT $columns FROM $t") == sorted(s"SELECT $columns FROM ${inApacheIceberg(t)}"))
    sorted(s"SELECT $columns FROM $t")
  }

  for ((version, mode) <- Seq(2 -> "copy-on-write", 3 -> "copy-on-write", 2 -> "merge-on-read", 3 -> "merge-on-read")) {
    test(
      s"UPDATE * and INSERT * add the missing columns in the same commit as the rows (version $version, $mode)",
      Sampling.slowInSomeRunsUnless(version == 3 && mode == "merge-on-read"): _*
    ) {
      val t = create("id BIGINT NOT NULL, n INT, kept STRING", version, mode)
      sql(s"INSERT INTO $t VALUES (1, 1, 'a'), (2, 2, 'b')")
      val (snapshots, versions) = snapshotsAndVersions(t)
      sql(
        s"MERGE WITH SCHEMA EVOLUTION INTO $t t " +
          "USING (SELECT 2L AS id, 5000000000L AS n, 'x' AS data UNION ALL SELECT 3L, 7L, 'y') s ON t.id = s.id " +
          "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
      )
      assert(columns(t) == Seq("id long required", "n long", "kept string", "data string"))
      assert(read(t) == Seq("[1,1,a,null]", "[2,5000000000,b,x]", "[3,7,null,y]"))
      assert(snapshotsAndVersions(t) == ((snapshots + 1, versions + 1)))
      assert(live(t).currentSnapshot.flatMap(_.schemaId).contains(live(t).metadata.currentSchemaId))
    }

    test(
      s"missing fields of structs are added, even in lists and maps (version $version, $mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = version == 2 && mode == "merge-on-read"): _*
    ) {
      val t = create(
        "id BIGINT, s STRUCT<a: INT, b: INT>, l ARRAY<STRUCT<x: INT, y: INT>>, m MAP<STRING, STRUCT<v: INT, w: INT>>",
        version,
        mode
      )
      sql(s"INSERT INTO $t VALUES " +
        "(1, named_struct('a', 1, 'b', 2), array(named_struct('x', 1, 'y', 2)), " +
        "map('k', named_struct('v', 1, 'w', 2)))")
      sql(
        s"MERGE INTO $t WITH ('merge-schema' = 'true') t USING (SELECT i AS id, named_struct('c', 9, 'b', 8) AS s, " +
          "array(named_struct('z', 9, 'x', 8)) AS l, map('k', named_struct('u', 9, 'v', 8)) AS m " +
          "FROM range(1, 3) r(i)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
      )
      assert(read(t, "id, s.a, s.b, s.c, l[0].x, l[0].y, l[0].z, m['k'].v, m['k'].w, m['k'].u") ==
        Seq("[1,1,8,9,8,null,9,8,null,9]", "[2,null,8,9,8,null,9,8,null,9]"))
    }
  }

  test("explicit assignments add only the assigned columns", Slow) {
    val t = create("id BIGINT, s STRUCT<a: INT>", 2, "copy-on-write")
    sql(s"INSERT INTO $t VALUES (1, named_struct('a', 1))")
    def merge(actions: String): Unit = {
      sql(
        s"MERGE WITH SCHEMA EVOLUTION INTO $t AS target USING (SELECT i AS id, 'd' AS data, 2 AS other, " +
          "named_struct('a', 5, 'b', 6, 'c', 7) AS s FROM range(1, 3) r(i)) source " +
          s"ON target.id = source.id $actions"
      )
      ()
    }
    merge("WHEN MATCHED THEN UPDATE SET target.data = source.data")
    assert(read(t, "id, s.a, data") == Seq("[1,1,d]"))
    merge("WHEN MATCHED THEN UPDATE SET s.b = source.s.b")
    assert(columns(t) == Seq("id long", "s struct<3: a: optional int, 5: b: optional int>", "data string"))
    assert(read(t, "id, s.a, s.b, data") == Seq("[1,1,6,d]"))
    merge("WHEN NOT MATCHED THEN INSERT (id, other) VALUES (source.id, source.other)")
    assert(read(t, "id, s.a, data, other") == Seq("[1,1,d,null]", "[2,null,null,2]"))
    val error = intercept[Exception](merge("WHEN MATCHED THEN UPDATE SET target.nowhere = source.id"))
    assert(messages(error).contains("nowhere"))
    assert(live(t).schema.fields.map(_.name) == Seq("id", "s", "data", "other"))
  }

  test("values are cast to the type of the column if the column cannot be widened to their type", Slow) {
    val t = create("id BIGINT, n INT, d DATE", 2, "copy-on-write")
    sql(s"INSERT INTO $t VALUES (1, 1, NULL)")
    def merge(select: String): Unit = {
      sql(s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING (SELECT $select) s ON t.id = s.id " +
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
      ()
    }
    merge("1 AS id, 2D AS n, TIMESTAMP '2024-01-02 10:00:00' AS d")
    assert(columns(t) == Seq("id long", "n int", "d date") && read(t) == Seq("[1,2,2024-01-02]"))
    val error = messages(intercept[Exception](merge("1 AS id, 'text' AS n")))
    assert(error.contains("Cannot safely cast") && error.contains("`n`"), error)
    assert(read(t) == Seq("[1,2,2024-01-02]"))
  }

  test(
    "columns are also added by an insert-only MERGE, a MERGE with NOT MATCHED BY SOURCE and a MERGE on a branch",
    Slow
  ) {
    val t = create("id BIGINT NOT NULL, n INT", 2, "merge-on-read")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    sql(s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING (SELECT 2L AS id, 'x' AS data) s ON t.id = s.id " +
      "WHEN NOT MATCHED THEN INSERT *")
    assert(columns(t) == Seq("id long required", "n int", "data string"))
    assert(read(t) == Seq("[1,1,null]", "[2,null,x]"))
    sql(s"MERGE WITH SCHEMA EVOLUTION INTO $t WITH ('branch' = 'b') t " +
      "USING (SELECT 1L AS id, 2 AS more) s ON t.id = s.id " +
      "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED BY SOURCE THEN DELETE")
    assert(sorted(s"SELECT * FROM $t.branch_b") == Seq("[1,1,null,2]"))
    assert(read(t) == Seq("[1,1,null,null]", "[2,null,x,null]"))
  }

  test("in inserted rows, columns that the source lacks have their default values", Slow) {
    val t = create("id BIGINT, n INT DEFAULT 42", 3, "copy-on-write")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    sql(s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING (SELECT i AS id, 'x' AS data FROM range(1, 3) r(i)) s " +
      "ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
    assert(read(t) == Seq("[1,1,x]", "[2,42,x]"))
  }

  test("a MERGE that fails or changes no row, and EXPLAIN of a MERGE, do not change the schema", Slow) {
    val t = create("id BIGINT, n BIGINT", 2, "copy-on-write")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    def merge(id: String) = s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING (SELECT $id AS id, 'x' AS data) s " +
      "ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
    assertUnchanged(t) {
      assert(rows(s"EXPLAIN EXTENDED ${merge("1")}").head.getString(0).contains("data#"))
      sql(merge("5"))
      assert(messages(intercept[Exception](sql(merge("assert_true(false)")))).contains("is not true"))
    }
    assert(columns(t) == Seq("id long", "n long"))
  }

  test(
    "UPDATE * from a source that lacks a column is rejected; with schema evolution, the column keeps its values",
    Slow
  ) {
    val t = create("id BIGINT, n BIGINT", 2, "copy-on-write")
    sql(s"INSERT INTO $t VALUES (1, 1)")
    val statementEnd = s"$t t USING (SELECT 1L AS id, 'x' AS data) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *"
    val error = intercept[AnalysisException](sql(s"MERGE INTO $statementEnd"))
    assert(error.getErrorClass == "UNRESOLVED_COLUMN.WITH_SUGGESTION" && error.getMessage.contains("`n`"), error)
    sql(s"MERGE WITH SCHEMA EVOLUTION INTO $statementEnd")
    assert(read(t) == Seq("[1,1,x]"))
  }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"a MERGE fails if a concurrent commit adds a column, or succeeds with retries ($mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = mode == "merge-on-read"): _*
    ) {
      val t = create("id BIGINT", 2, mode)
      sql(s"INSERT INTO $t VALUES (1)")
      def merge(options: String): Unit = {
        sql(s"MERGE WITH SCHEMA EVOLUTION INTO $t $options t " +
          "USING (SELECT 1L AS id, commit_and_return(5) AS data) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *")
        ()
      }
      def addColumnWhenCalled(column: String) = commitWhenCalled(t)(_.transaction()
        .add(new UpdateSchema(_.addColumn(Vector.empty, column, StringType))).commit())
      addColumnWhenCalled("other")
      val error = intercept[Exception](merge(""))
      assert(messages(error).contains("conflicts with a concurrent commit"), messages(error))
      assert(columns(t) == Seq("id long", "other string"))
      addColumnWhenCalled("another")
      merge("WITH ('statement-retries' = 1)")
      assert(columns(t) == Seq("id long", "other string", "another string", "data long"))
      assert(read(t) == Seq("[1,null,null,5]"))
    }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"Spark's cached results are refreshed after a MERGE that adds columns ($mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = mode == "merge-on-read"): _*
    ) {
      val t = create("id BIGINT, n INT", 2, mode)
      sql(s"INSERT INTO $t VALUES (1, 1)")
      sql(s"CACHE TABLE cached_sums AS SELECT sum(id), sum(n) FROM $t")
      def sums = rows("SELECT * FROM cached_sums").map(_.toString)
      def merge(select: String, actions: String): Unit = {
        sql(s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING (SELECT $select) s ON t.id = s.id $actions")
        ()
      }
      try {
        assert(sums == Seq("[1,1]"))
        merge("1L AS id, 7 AS n, 'x' AS data", "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
        assert(sums == Seq("[1,7]") && count(t) == 1)
      } finally sql("DROP VIEW cached_sums")
      sql(s"CACHE TABLE cached_sums AS SELECT sum(id), sum(n) FROM $t")
      try {
        merge("2L AS id, 3 AS n, 5 AS more", "WHEN NOT MATCHED THEN INSERT *")
        assert(sums == Seq("[3,10]") && read(t) == Seq("[1,7,x,null]", "[2,3,null,5]"))
      } finally sql("DROP VIEW cached_sums")
    }

  test("INSERT * with duplicate column names in the source is rejected") {
    val t = create("id BIGINT, n INT", 2, "copy-on-write")
    val error = intercept[Exception](sql(
      s"MERGE WITH SCHEMA EVOLUTION INTO $t t USING (SELECT 1L AS id, 1 AS n, 2 AS n) s ON t.id = s.id " +
        "WHEN NOT MATCHED THEN INSERT *"
    ))
    assert(messages(error).contains("The source has 2 columns with this name; keep one"))
  }

  for (mode <- Seq("copy-on-write", "merge-on-read"))
    test(
      s"a column added between analysis and execution of a statement does not become null ($mode)",
      Sampling.slowInSomeRuns(isAlwaysRun = mode == "copy-on-write"): _*
    ) {
      val t = create("id BIGINT, n BIGINT", 2, mode)
      sql(s"INSERT INTO $t SELECT id, id FROM range(0, 10, 1, 1)")
      assert(count(t) == 10)
      // Spark resolves the target table of the MERGE before the source. The session sees the following commits of
      // Apache Iceberg only when Spark resolves the source.
      sql(s"ALTER TABLE ${inApacheIceberg(t)} ADD COLUMN c INT")
      sql(s"INSERT INTO ${inApacheIceberg(t)} VALUES (100, 100, 7)")
      val loaded = org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark, inApacheIceberg(t))
      loaded.manageSnapshots().createTag("x", loaded.currentSnapshot.snapshotId).commit()
      val merge = s"USING (SELECT id, n + 1 AS n FROM $t.tag_x) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n"
      val error = intercept[Exception](sql(s"MERGE INTO $t t $merge"))
      assert(messages(error).contains("its columns changed after the statement was analyzed. Run the statement again"))
      sql(s"MERGE INTO $t t $merge")
      assert(rows(s"SELECT n, c FROM $t WHERE id = 100").map(_.toString) == Seq("[101,7]"))
    }
}
