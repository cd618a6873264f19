package iceberglite.spark.write.upsert

import java.net.URI
import java.nio.file.{Files, Paths}

import scala.util.Random

import org.apache.iceberg.spark.Spark3Util
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.{FilesBelow, MoreRoundsInSlowTierTag, Sampling}
import iceberglite.maintenance.LiveEqualityDeletes
import iceberglite.scan.TableScan
import iceberglite.spark.SharedSession
import iceberglite.spark.procedure.ProcedureContext
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.expr.Expression.AlwaysTrue
import iceberglite.table.SnapshotTarget
import iceberglite.table.action.RewriteFiles

/** Checks upserts, whose equality deletes both connectors read, and the conversion of these deletes by a procedure. */
class UpsertSuite extends AnyFunSuite with SharedSession {
  private val seed = sys.env.get("ICEBERG_LITE_SEED").fold(20240229L)(_.toLong)

  private def newUpsertTable(columns: String, version: Int, clauses: String = "", properties: String = ""): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t ($columns) USING iceberg $clauses TBLPROPERTIES ('format-version' = '$version'$properties)")
    t
  }

  private def upsert(t: String, rows: DataFrame, options: (String, String)*): Unit =
    options.foldLeft(rows.writeTo(t)) { case (w, (key, value)) => w.option(key, value) }.append()

  /** Returns the rows of the table, after checking that Apache Iceberg reads the same rows. */
  private def read(t: String): Seq[String] = {
    val result = sorted(s"SELECT * FROM $t")
    assert(sorted(s"SELECT * FROM ${inApacheIceberg(t)}") == result)
    result
  }

  private def deletes(t: String): Seq[(Int, String)] =
    rows(s"SELECT content, file_format FROM $t.delete_files").map(r => (r.getInt(0), r.getString(1)))

  private def convert(t: String): Seq[Any] = rows(s"CALL lite.system.convert_equality_deletes('$t')").head.toSeq

  private val layouts = Seq(
    "" -> "id",
    "PARTITIONED BY (bucket(3, id))" -> "id",
    "PARTITIONED BY (p)" -> "id",
    "PARTITIONED BY (p, truncate(4, id))" -> "id, p"
  )

  test(
    "random upserts keep the last row of each key, before and after their deletes are converted",
    MoreRoundsInSlowTierTag
  ) {
    val random = new Random(seed)
    // In each version, half of the partitionings are tested, or a single one in the fast tier.
    for {
      version <- if (Sampling.isFast) Seq(3) else Seq(2, 3)
      ((partitioning, keys), i) <- layouts.zipWithIndex if (i + version + seed) % 2 == 0 && (!Sampling.isFast || i < 2)
    } {
      val format = Seq("parquet", "orc", "avro")(random.nextInt(3))
      val properties = s", 'write.spark.accept-any-schema' = 'true', 'write.delete.format.default' = '$format'"
      val t = newUpsertTable("id INT, p STRING, v BIGINT", version, partitioning, properties)
      var model = Map.empty[(Int, String), Long]
      (1 to 4).foreach { step =>
        val rows = (1 to 12).map(_ => (random.nextInt(20), Seq("a", "b")(random.nextInt(2)), random.nextInt(4) == 0))
        // Each step upserts a row with the id 30, which replaces the row of the previous step.
        val allRows = rows :+ ((30, "a", false))
        val distinct = allRows.groupBy(k => if (keys == "id") (k._1, "") else (k._1, k._2)).values.map(_.head).toSeq
        import spark.implicits._
        val values = distinct.map { case (id, p, isDeleted) => (id, p, (step * 100 + id).toLong, isDeleted) }
        val frame = values.toDF("id", "p", "v", "gone")
        upsert(t, frame, "upsert-keys" -> keys, "upsert-delete-column" -> "gone")
        distinct.foreach { case (id, p, isDeleted) =>
          model = model.filterKeys(k => k._1 != id || keys != "id" && k._2 != p).map(identity)
          if (!isDeleted) model += (id, p) -> (step * 100 + id).toLong
        }
        val expected = model.toSeq.map { case ((id, p), v) => s"[$id,$p,$v]" }.sorted
        assert(read(t) == expected, s"$partitioning step $step")
        if (step == 2 + i % 2) {
          assert(deletes(t).exists(_._1 == 2))
          convert(t)
          assert(read(t) == expected)
          assert(deletes(t).forall(_._1 == 1))
        }
        // Existing position deletes are merged with those from the conversion.
        if (step == 3) {
          val deletedKey = model.keys.toSeq.sorted.head
          sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
          sql(s"DELETE FROM $t WHERE id = ${deletedKey._1} AND p = '${deletedKey._2}'")
          model -= deletedKey
        }
      }
      assert(convert(t).head != 0)
      assert(read(t) == model.toSeq.map { case ((id, p), v) => s"[$id,$p,$v]" }.sorted)
      assert(deletes(t).forall(d => d == ((1, if (version == 3) "PUFFIN" else format.toUpperCase))))
      assert(convert(t) == Seq(0, 0, 0L))
    }
  }

  test("by default, the key of an upsert consists of the identifier fields") {
    val t = newUpsertTable("id INT NOT NULL, s STRUCT<k: STRING NOT NULL> NOT NULL, v INT", 3)
    val rows = sql("SELECT 1 AS id, named_struct('k', 'a') AS s, 1 AS v UNION ALL SELECT 1, named_struct('k', 'b'), 2")
    assert(intercept[Exception](upsert(t, rows, "upsert" -> "true")).getMessage.contains("has no identifier fields"))
    sql(s"ALTER TABLE $t SET IDENTIFIER FIELDS id, s.k")
    upsert(t, rows, "upsert" -> "true")
    upsert(t, rows.where("v = 2").withColumn("v", expr("5")), "upsert" -> "true")
    assert(read(t) == Seq("[1,[a],1]", "[1,[b],5]"))
    assert(sql(s"SELECT DISTINCT equality_ids FROM $t.delete_files").head.getSeq[Int](0).size == 2)
  }

  test("an upsert of two rows with the same key is rejected with the key, and leaves no files") {
    val t = newUpsertTable("id INT, d DATE, v INT", 2)
    upsert(t, sql("SELECT 1 AS id, DATE '2024-02-29' AS d, 1 AS v"), "upsert-keys" -> "id,d")
    val before = files(t)
    val duplicateKeys = sql("SELECT id, DATE '2024-02-29' AS d, v FROM VALUES (1, 1), (2, 1), (1, 2) AS t (id, v)")
    val error = intercept[Exception](upsert(t, duplicateKeys.repartition(3), "upsert-keys" -> "d, id"))
    val causes = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString(" ")
    assert(causes.contains("two of the rows have the key id = 1, d = 2024-02-29"))
    assert(files(t) == before)
    assert(read(t) == Seq("[1,2024-02-29,1]"))
  }

  private def loaded(t: String): org.apache.iceberg.Table = Spark3Util.loadIcebergTable(spark, inApacheIceberg(t))

  private def files(t: String): Set[String] = {
    val data = Paths.get(new URI(loaded(t).location.replaceFirst("^file:/+", "file:///"))).resolve("data")
    FilesBelow.of(data).map(_.toString)
  }

  test("an upsert with a null key replaces the row with a null key") {
    val t = newUpsertTable("id INT, v INT", 2)
    Seq(1, 2).foreach(v => upsert(t, sql(s"SELECT CAST(NULL AS INT) AS id, $v AS v"), "upsert-keys" -> "id"))
    assert(read(t) == Seq("[null,2]"))
  }

  test("upserts with keys of every comparable SQL type replace the rows with the same keys", Slow) {
    val columns = "b BOOLEAN, i INT, l BIGINT, d DECIMAL(9, 2), e DECIMAL(30, 2), day DATE, ts TIMESTAMP, " +
      "n TIMESTAMP_NTZ, s STRING, x BINARY, c CHAR(3)"
    val t = newUpsertTable(s"$columns, v INT", 3)
    def rows(v: Int) = sql(
      s"""SELECT true AS b, 1 AS i, 2L AS l, 1.25BD AS d, CAST(1.25BD AS DECIMAL(30, 2)) AS e, DATE '1969-12-31' AS day,
         |TIMESTAMP '2024-02-29 12:00:00' AS ts, TIMESTAMP_NTZ '1969-12-31 23:59:59' AS n, 'ü' AS s, X'00ff' AS x,
         |'a' AS c, $v AS v""".stripMargin
    )
    val names = columns.replaceAll("\\([^)]*\\)", "").split(",").map(_.trim.split(" ").head).toSeq
    (names.map(Seq(_)) :+ names).zipWithIndex.foreach { case (key, v) =>
      upsert(t, rows(v), "upsert-keys" -> key.mkString(","))
      assert(this.rows(s"SELECT v FROM $t").map(_.getInt(0)) == Seq(v), key)
      assert(this.rows(s"SELECT v FROM ${inApacheIceberg(t)}").map(_.getInt(0)) == Seq(v), key)
    }
  }

  test("an invalid upsert is rejected with the reason") {
    val t = newUpsertTable("id INT, f FLOAT, l ARRAY<INT>, v INT", 2)
    val rows = sql("SELECT 1 AS id, 1f AS f, array(1) AS l, 1 AS v")
    def assertRejected(
        reason: String,
        options: (String, String)*
    )(write: => Unit = upsert(t, rows, options: _*)): Unit = {
      val error = intercept[Exception](write)
      assert(error.getMessage.contains(reason))
    }
    assertRejected("Equality deletes cannot use a column of type float", "upsert-keys" -> "f")()
    assertRejected("cannot be compared", "upsert-keys" -> "l")()
    assertRejected("inside a list or map", "upsert-keys" -> "l.element")()
    assertRejected("zz", "upsert-keys" -> "zz")()
    assertRejected("list of column names", "upsert-keys" -> "id,,v")()
    assertRejected("upsert-keys", "upsert-kes" -> "id")()
    assertRejected("The columns of the rows are", "upsert-keys" -> "id", "upsert-delete-column" -> "gone")()
    assertRejected("must be a BOOLEAN", "upsert-keys" -> "id", "upsert-delete-column" -> "v")()
    assertRejected("Append the rows")(rows.writeTo(t).option("upsert-keys", "id").overwritePartitions())
    val v1 = newUpsertTable("id INT", 1)
    assertRejected("Tables of version 1 have no delete files")(upsert(v1, rows.select("id"), "upsert-keys" -> "id"))
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    assertRejected("It is a key column of the upsert")(upsert(t, rows.drop("id"), "upsert-keys" -> "id"))
  }

  test("an upsert replaces rows of other partitions, and rows of files with another partition spec", Slow) {
    val t = newUpsertTable("id INT, p STRING", 2, "PARTITIONED BY (p)")
    sql(s"INSERT INTO $t VALUES (1, 'a'), (2, 'a')")
    upsert(t, sql("SELECT 1 AS id, 'b' AS p"), "upsert-keys" -> "id")
    assert(read(t) == Seq("[1,b]", "[2,a]"))
    sql(s"ALTER TABLE $t REPLACE PARTITION FIELD p WITH bucket(2, id)")
    upsert(t, sql("SELECT 2 AS id, 'c' AS p UNION ALL SELECT 1, 'd'"), "upsert-keys" -> "id")
    assert(read(t) == Seq("[1,d]", "[2,c]"))
    // If all files have the same spec and the key determines the partition, deletes apply only to their partition.
    val u = newUpsertTable("id INT, p STRING", 2, "PARTITIONED BY (bucket(2, id))")
    sql(s"INSERT INTO $u VALUES (1, 'a'), (2, 'a')")
    upsert(u, sql("SELECT 1 AS id, 'b' AS p"), "upsert-keys" -> "id")
    assert(read(u) == Seq("[1,b]", "[2,a]"))
    assert(loaded(u).specs.size == 1 && loaded(t).specs.size == 3)
  }

  test("an upsert can write to a branch, and its deletes can be converted on the branch") {
    val t = newUpsertTable("id INT, v INT", 3)
    sql(s"INSERT INTO $t VALUES (1, 1)")
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    upsert(t, sql("SELECT 1 AS id, 2 AS v"), "upsert-keys" -> "id", "branch" -> "b")
    assert(rows(s"CALL lite.system.convert_equality_deletes(table => '$t', branch => 'b')").head.toSeq == Seq(1, 1, 1L))
    assert(read(t) == Seq("[1,1]"))
    assert(rows(s"SELECT * FROM $t VERSION AS OF 'b'").map(_.toString) == Seq("[1,2]"))
  }

  test("a conversion of equality deletes keeps concurrent changes, or fails if they conflict with it", Slow) {
    for (version <- Seq(2, 3)) {
      val appended = convertDuring(version)(t => sql(s"INSERT INTO $t VALUES (1, 9)"))
      assert(read(appended.get) == Seq("[1,2]", "[1,9]", "[2,2]", "[3,1]", "[4,1]"))
      assert(!deletes(appended.get).exists(_._1 == 2))
      val upserted = convertDuring(version)(t => upsert(t, sql("SELECT 2 AS id, 5 AS v"), "upsert-keys" -> "id"))
      assert(read(upserted.get) == Seq("[1,2]", "[2,5]", "[3,1]", "[4,1]"))
      assert(deletes(upserted.get).count(_._1 == 2) == 1)
      assertRejected("not in the table any more")(version)(t => sql(s"INSERT OVERWRITE $t VALUES (7, 7)"))
      assertRejected("not in the table any more")(version)(convert)
      // The concurrent commit adds a file with the sequence number of the second snapshot, like a compaction that began
      // before the deletes.
      assertRejected("to which the deletes apply")(version) { t =>
        val live = liveTable(t)
        val scan = TableScan(live.tree(), live.metadata.currentSnapshot, AlwaysTrue, caseSensitive = true)
        val Seq(first, second, _) = scan.plan().tasks.sortBy(_.dataSequenceNumber).map(_.file)
        val copy = second.path.replace(".parquet", "-copy.parquet")
        Files.copy(Paths.get(new URI(second.path)), Paths.get(new URI(copy)))
        val since = live.metadata.snapshots.sortBy(_.sequenceNumber).apply(1).snapshotId
        val added = second.copy(path = copy, recordCount = first.recordCount, firstRowId = None)
        live.transaction().add(new RewriteFiles(Vector(first), Vector(added), since)).commit()
      }
    }
    assertRejected("another deletion vector")(3)(t => sql(s"DELETE FROM $t WHERE id = 3"))
  }

  /** Commits a change between the read and the commit of a conversion. @return the table if the conversion succeeds */
  private def convertDuring(version: Int)(concurrent: String => Unit): scala.util.Try[String] = {
    val t = newUpsertTable("id INT, v INT", version, properties = ", 'write.delete.mode' = 'merge-on-read'")
    sql(s"INSERT INTO $t VALUES (4, 1)")
    sql(s"INSERT INTO $t SELECT /*+ COALESCE(1) */ id, 1 FROM VALUES (1), (2), (3) AS t (id)")
    upsert(t, sql("SELECT 1 AS id, 2 AS v UNION ALL SELECT 2, 2"), "upsert-keys" -> "id")
    val table = liveTable(t)
    val equalityDeletes = LiveEqualityDeletes.of(table, SnapshotTarget.Main).get
    val before = files(t)
    scala.util.Try {
      new DeleteConversionJob(spark, table).run(equalityDeletes) { foundRows =>
        concurrent(t)
        table.transaction().add(equalityDeletes.action(foundRows)).commit()
      }
      sql(s"REFRESH TABLE $t")
      t
    }.recoverWith { case e =>
      sql(s"REFRESH TABLE $t")
      val paths = rows(s"SELECT file_path FROM $t.all_files").map(_.getString(0))
      val referencedPaths = paths.map(_.replaceFirst("^file:/+", "/")).toSet
      assert((files(t) -- before).forall(referencedPaths), "files of the failed conversion were not deleted")
      scala.util.Failure(e)
    }
  }

  private def liveTable(t: String): iceberglite.table.Table = {
    val catalog = spark.sessionState.catalogManager.catalog("lite").asInstanceOf[LiteCatalog]
    new ProcedureContext(spark, catalog).table(t).current
  }

  private def assertRejected(reason: String)(version: Int)(concurrent: String => Unit): Unit = {
    val error = convertDuring(version)(concurrent).failed.get
    assert(error.getMessage.contains(reason))
  }

  test("a conversion of deletes keeps row ids, and rows that an upsert has replaced have new row ids") {
    val t = newUpsertTable("id INT, v INT", 3)
    sql(s"INSERT INTO $t VALUES (1, 1), (2, 1)")
    upsert(t, sql("SELECT 1 AS id, 2 AS v"), "upsert-keys" -> "id")
    val before = sorted(s"SELECT id, _row_id, _last_updated_sequence_number FROM $t")
    assert(before.map(_.take(6)) == Seq("[1,2,2", "[2,1,1"))
    convert(t)
    assert(sorted(s"SELECT id, _row_id, _last_updated_sequence_number FROM $t") == before)
    assert(sorted(s"SELECT id, _row_id, _last_updated_sequence_number FROM ${inApacheIceberg(t)}") == before)
  }
}
