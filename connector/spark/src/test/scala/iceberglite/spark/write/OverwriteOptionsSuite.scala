package iceberglite.spark.write

import org.apache.spark.sql.{DataFrame, DataFrameWriter, Row, SaveMode}
import org.apache.spark.sql.functions.{col, lit}
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.spark.SharedSession

/**
 * Checks that the options of overwrites are applied or rejected in every kind of write: those that limit which rows are
 * replaced, `overwriteSchema`, and `txnAppId` with `txnVersion`.
 */
class OverwriteOptionsSuite extends AnyFunSuite with WriteFixture {

  private def partitioned(): String = {
    val t = newTable()
    sql(s"CREATE TABLE $t (id BIGINT, p INT) USING iceberg PARTITIONED BY (p)")
    sql(s"INSERT INTO $t SELECT id, CAST(id % 3 AS INT) FROM range(0, 9, 1, 1)")
    t
  }

  private def newRows(p: Int): DataFrame = spark.range(100, 102).selectExpr("id", s"$p AS p")

  private def ids(t: String): Seq[Long] = rows(s"SELECT id FROM $t ORDER BY id").map(_.getLong(0))

  private def pathOf(t: String): String = {
    val name = t.split('.')
    SharedSession.warehouse.resolve(name(1)).resolve(name(2)).toString
  }

  private type Writer = DataFrameWriter[Row]

  private def writer(rows: DataFrame, options: Seq[(String, String)], mode: String): Writer =
    rows.write.format("iceberg-lite").mode(mode).options(options.toMap)

  /** The methods that overwrite rows of a table, with names for the tests. */
  private val overwrites: Seq[(String, (Writer, String) => Unit)] = Seq(
    "save(name)" -> ((w, t) => w.save(t)),
    "save(path)" -> ((w, t) => w.save(pathOf(t))),
    "insertInto" -> ((w, t) => w.insertInto(t))
  )

  private def overwrite(
      save: (Writer, String) => Unit,
      t: String,
      rows: DataFrame,
      options: (String, String)*
  ): Unit = {
    save(writer(rows, options, "overwrite"), t)
    sql(s"REFRESH TABLE $t")
    ()
  }

  private def rejection(t: String)(write: => Unit): String = {
    var message = ""
    assertUnchanged(t) { message = messages(intercept[Exception](write)) }
    message
  }

  private val remainingIds = Seq(0L, 2L, 3L, 5L, 6L, 8L)

  for (((method, save), i) <- overwrites.zipWithIndex) {
    val tags = Sampling.slowInSomeRunsUnless(i == 0)
    val slowTags = Sampling.slowInSomeRuns(isAlwaysRun = i == 0)
    test(s"$method: replaceWhere replaces only the rows that match", tags: _*) {
      val t = partitioned()
      overwrite(save, t, newRows(1), "replaceWhere" -> "p = 1")
      assert(ids(t) == remainingIds ++ Seq(100L, 101L) && ids(inApacheIceberg(t)) == ids(t))
      overwrite(save, t, newRows(0), "REPLACEWHERE" -> "p = 0 and id > 3 or id >= 100")
      assert(ids(t) == Seq(0L, 2L, 3L, 5L, 8L, 100L, 101L) && ids(inApacheIceberg(t)) == ids(t))
      overwrite(save, t, newRows(0).limit(0), "replaceWhere" -> "p = 0")
      assert(ids(t) == Seq(2L, 5L, 8L))
      overwrite(save, t, newRows(2), "replaceWhere" -> "true")
      assert(ids(t) == Seq(100L, 101L))
    }

    test(s"$method: new rows that do not match replaceWhere are rejected", tags: _*) {
      val t = partitioned()
      for (rows <- Seq(newRows(2), newRows(1).selectExpr("id", "CAST(NULL AS INT) AS p"))) {
        val message = rejection(t)(overwrite(save, t, rows, "replaceWhere" -> "p = 1"))
        assert(message.contains("replaceWhere") && message.contains("p = 1"), message)
      }
    }

    test(s"$method: a replaceWhere that is not a valid condition on the table is rejected", slowTags: _*) {
      val t = partitioned()
      for (text <- Seq("", "nothere = 1", "p = = 1", "id + 1", "p IN (SELECT 1)", "rand() < 0.5", "sum(id) > 1")) {
        val message = rejection(t)(overwrite(save, t, newRows(1), "replaceWhere" -> text))
        assert(message.contains("replaceWhere"), message)
      }
    }

    test(s"$method: a dynamic overwrite replaces the partitions of the new rows", slowTags: _*) {
      for (key <- Seq("partitionOverwriteMode", "PARTITIONOVERWRITEMODE", "overwrite-mode", "Overwrite-Mode")) {
        val t = partitioned()
        overwrite(save, t, newRows(1), key -> "Dynamic")
        assert(ids(t) == remainingIds ++ Seq(100L, 101L) && ids(inApacheIceberg(t)) == ids(t), key)
        overwrite(save, t, newRows(1), key -> "static")
        assert(ids(t) == Seq(100L, 101L))
      }
    }

    test(s"$method: options that are invalid, or contradict each other or the overwrite, are rejected", slowTags: _*) {
      val t = partitioned()
      val rejectedOptions = Seq(
        Seq("replaceWhere" -> "p = 1", "partitionOverwriteMode" -> "dynamic"),
        Seq("replaceWhere" -> "p = 1", "overwrite-mode" -> "dynamic"),
        Seq("partitionOverwriteMode" -> "static", "overwrite-mode" -> "dynamic"),
        Seq("partitionOverwriteMode" -> "sometimes"),
        Seq("overwriteSchema" -> "true"),
        Seq("overwriteSchema" -> "maybe"),
        Seq("OVERWRITESCHEMA" -> "true", "replaceWhere" -> "p = 1")
      )
      for (options <- rejectedOptions) {
        val message = rejection(t)(overwrite(save, t, newRows(1), options: _*))
        assert(options.exists { case (key, _) => message.contains(key.take(5)) }, message)
      }
      assert(rejection(t)(overwrite(save, t, newRows(1), "overwriteSchema" -> "true")).contains("createOrReplace"))
      overwrite(save, t, newRows(1), "overwriteSchema" -> "false")
      assert(ids(t) == Seq(100L, 101L))
    }

    test(s"$method: a write with txnAppId and txnVersion is done once per version", slowTags: _*) {
      val t = partitioned()
      def write(rows: DataFrame, version: Int, idKey: String = "txnAppId"): Unit =
        overwrite(save, t, rows, idKey -> "job", "TxnVersion" -> version.toString)
      write(newRows(1), 1)
      assert(ids(t) == Seq(100L, 101L))
      assertUnchanged(t)(write(newRows(2), 1))
      assertUnchanged(t)(write(newRows(2), 0, "TXNAPPID"))
      assertUnchanged(t)(overwrite(save, t, newRows(2), "application-id" -> "job", "application-version" -> "1"))
      write(newRows(2), 2)
      assert(rows(s"SELECT DISTINCT p FROM $t").head.getInt(0) == 2)
      for (option <- Seq("txnAppId" -> "x", "txnVersion" -> "5")) {
        assert(rejection(t)(overwrite(save, t, newRows(1), option)).contains(option._1))
      }
      val message =
        rejection(t)(overwrite(save, t, newRows(1), "txnAppId" -> "x", "application-id" -> "y", "txnVersion" -> "1"))
      assert(message.contains("txnAppId") && message.contains("application-id"), message)
    }
  }

  test("an append with replaceWhere is rejected, and partitionOverwriteMode does not affect an append", Slow) {
    val t = partitioned()
    for (save <- Seq[(Writer, String) => Unit](_.save(_), _.insertInto(_), _.saveAsTable(_))) {
      val message = rejection(t)(save(writer(newRows(1), Seq("replaceWhere" -> "p = 1"), "append"), t))
      assert(message.contains("replaceWhere") && message.contains("overwrite"), message)
    }
    rejection(t)(newRows(1).writeTo(t).option("replaceWhere", "p = 1").append())
    writer(newRows(1), Seq("partitionOverwriteMode" -> "dynamic"), "append").save(t)
    assert(ids(t).size == 11)
  }

  test("saveAsTable, createOrReplace and replace reject options that apply only to an overwrite of rows", Slow) {
    val t = partitioned()
    def save(options: (String, String)*): Unit = writer(newRows(1), options, "overwrite").saveAsTable(t)
    val rowOverwriteOptions = Seq(
      "replaceWhere" -> "p = 1",
      "partitionOverwriteMode" -> "dynamic",
      "Overwrite-Mode" -> "dynamic",
      "overwriteSchema" -> "false",
      "isolation-level" -> "serializable"
    )
    for (option <- rowOverwriteOptions) withClue(option) {
      val message = rejection(t)(save(option))
      assert(message.contains(option._1.toLowerCase) || message.contains(option._1), message)
      assert(messages(intercept[Exception](
        newRows(1).writeTo(t).using("iceberg").option(option._1, option._2).createOrReplace()
      )).toLowerCase.contains(option._1.toLowerCase))
      assert(messages(intercept[Exception](
        newRows(1).writeTo(t).using("iceberg").option(option._1, option._2).replace()
      )).toLowerCase.contains(option._1.toLowerCase))
    }
    assert(ids(t) == (0L until 9L))
    save("overwriteSchema" -> "true", "txnAppId" -> "a", "txnVersion" -> "1", "overwrite-mode" -> "static")
    assert(ids(t) == Seq(100L, 101L))
    assertUnchanged(t)(save("txnAppId" -> "a", "txnVersion" -> "1"))
  }

  test("saveAsTable accepts overwrite options if it creates the table, because no rows are replaced") {
    val t = newTable()
    writer(newRows(1), Seq("overwrite-mode" -> "dynamic", "partitionOverwriteMode" -> "dynamic"), "overwrite")
      .saveAsTable(t)
    assert(ids(t) == Seq(100L, 101L))
  }

  test("saveAsTable cannot replace a table if the option branch selects a branch other than main") {
    val t = partitioned()
    sql(s"ALTER TABLE $t CREATE BRANCH b")
    for (branch <- Seq("b", "nowhere")) {
      val message = rejection(t)(writer(newRows(1), Seq("branch" -> branch), "overwrite").saveAsTable(t))
      assert(message.contains("branch"), message)
    }
  }

  test("writeTo: options that contradict the condition or the kind of overwrite are rejected", Slow) {
    val t = partitioned()
    def write(option: (String, String)) = newRows(1).writeTo(t).option(option._1, option._2)
    for (option <- Seq("replaceWhere" -> "p = 1", "overwrite-mode" -> "dynamic", "overwriteSchema" -> "true")) {
      assert(rejection(t)(write(option).overwrite(col("p") === 1)).contains(option._1))
    }
    for (option <- Seq("replaceWhere" -> "p = 1", "partitionOverwriteMode" -> "static", "overwrite-mode" -> "static"))
      assert(rejection(t)(write(option).overwritePartitions()).contains(option._1))
    write("replaceWhere" -> "p = 1").overwrite(lit(true))
    assert(ids(t) == remainingIds ++ Seq(100L, 101L))
    write("partitionOverwriteMode" -> "dynamic").overwrite(lit(true))
    assert(ids(t) == remainingIds ++ Seq(100L, 101L))
  }

  test("SQL: INSERT statements apply and reject the same options as DataFrame writers", Slow) {
    val t = partitioned()
    def insert(verb: String, options: String) =
      sql(s"INSERT $verb $t WITH ($options) SELECT id, 1 FROM range(100, 102)")
    insert("OVERWRITE", "'replaceWhere' = 'p = 1'")
    assert(ids(t) == remainingIds ++ Seq(100L, 101L) && ids(inApacheIceberg(t)) == ids(t))
    insert("OVERWRITE", "'PartitionOverwriteMode' = 'dynamic', 'txnAppId' = 'a', 'txnVersion' = '1'")
    assertUnchanged(t)(insert("OVERWRITE", "'txnAppId' = 'a', 'txnVersion' = '1'"))
    assert(ids(t) == remainingIds ++ Seq(100L, 101L))
    rejection(t)(insert("INTO", "'replaceWhere' = 'p = 1'"))
    rejection(t)(insert("OVERWRITE", "'replaceWhere' = 'p = 2'"))
    rejection(t)(insert("OVERWRITE", "'overwriteSchema' = 'true'"))
    rejection(t)(sql(s"INSERT INTO $t WITH ('overwrite-mode' = 'dynamic') REPLACE WHERE id < 3 SELECT 1L, 1"))
    withConf("spark.sql.sources.partitionOverwriteMode" -> "dynamic") {
      rejection(t)(insert("OVERWRITE", "'replaceWhere' = 'p = 1'"))
      rejection(t)(insert("OVERWRITE", "'overwrite-mode' = 'static'"))
    }
    sql(s"DELETE FROM $t WITH ('txnAppId' = 'd', 'txnVersion' = '1') WHERE p = 1")
    assert(ids(t) == remainingIds)
  }

  test("without the extensions, replaceWhere is rejected, and partitionOverwriteMode applies") {
    val t = partitioned()
    val session = SharedSession.withoutExtensions
    inSession(session) { _ =>
      val rows = session.range(100, 102).selectExpr("id", "1 AS p")
      for (save <- Seq[(Writer, String) => Unit](_.save(_), _.insertInto(_), _.saveAsTable(_))) {
        val error = intercept[Exception](save(writer(rows, Seq("replaceWhere" -> "p = 1"), "overwrite"), t))
        assert(messages(error).contains("replaceWhere"))
      }
      writer(rows, Seq("partitionOverwriteMode" -> "dynamic"), "overwrite").save(t)
    }
    sql(s"REFRESH TABLE $t")
    assert(ids(t) == remainingIds ++ Seq(100L, 101L))
  }

  test("an option from the session configuration spark.datasource.iceberg applies") {
    val t = partitioned()
    withConf("spark.datasource.iceberg.replaceWhere" -> "p = 1")(overwrite((w, name) => w.save(name), t, newRows(1)))
    assert(ids(t) == remainingIds ++ Seq(100L, 101L))
  }

  test("if the table accepts any schema, an overwrite with replaceWhere finds columns by name") {
    val t = partitioned()
    sql(s"ALTER TABLE $t SET TBLPROPERTIES ('write.spark.accept-any-schema' = 'true')")
    overwrite((w, name) => w.save(name), t, newRows(1).select("p", "id"), "replaceWhere" -> "p = 1")
    assert(ids(t) == remainingIds ++ Seq(100L, 101L))
    val widerRows = newRows(1).selectExpr("p", "id", "'x' AS more")
    overwrite((w, name) => w.save(name), t, widerRows, "replaceWhere" -> "p = 1", "merge-schema" -> "true")
    assert(ids(t) == remainingIds ++ Seq(100L, 101L) && spark.table(t).columns.toSeq == Seq("id", "p", "more"))
  }

  test("in the save modes ignore and errorIfExists, replaceWhere changes nothing") {
    val t = partitioned()
    for (mode <- Seq(SaveMode.Ignore, SaveMode.ErrorIfExists)) assertUnchanged(t) {
      scala.util.Try(newRows(1).write.format("iceberg-lite").mode(mode).option("replaceWhere", "p = 1").save(t))
    }
  }
}
