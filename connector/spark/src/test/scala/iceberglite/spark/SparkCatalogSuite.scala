package iceberglite.spark

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkException
import org.apache.spark.sql.catalyst.analysis.{
  NoSuchNamespaceException,
  NoSuchTableException,
  TableAlreadyExistsException
}
import org.apache.spark.sql.connector.catalog.{Column, Identifier, TableCatalog, TableChange}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.{IntegerType, LongType}
import org.apache.spark.sql.{AnalysisException, SparkSession}
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.FilesBelow
import iceberglite.catalog.PathTables
import iceberglite.spark.table.SparkTable
import iceberglite.spec.IcebergError
import iceberglite.spec.IcebergError.{InvalidArgument, InvalidMetadata}
import iceberglite.spec.types.Type.IntType
import iceberglite.storage.HadoopFileIO
import iceberglite.table.action.UpdateSchema

/** Checks the catalog `SparkCatalog` through statements. */
class SparkCatalogSuite extends AnyFunSuite with SharedSession {

  private def catalogOf(session: SparkSession, name: String): TableCatalog =
    session.sessionState.catalogManager.catalog(name).asInstanceOf[TableCatalog]

  private def lite: TableCatalog = catalogOf(spark, "lite")

  private def ident(table: String): Identifier = {
    val parts = table.split('.').drop(1)
    Identifier.of(parts.init, parts.last)
  }

  private def metadataOf(table: String) = lite.loadTable(ident(table)).asInstanceOf[SparkTable].table.metadata

  test("an ALTER makes all its changes in one commit") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, s STRUCT<a: INT>) USING iceberg")
    val metadataBefore = metadataOf(t)
    lite.alterTable(
      ident(t),
      TableChange.addColumn(Array("s", "b"), LongType, true, "new"),
      TableChange.updateColumnType(Array("id"), LongType),
      TableChange.renameColumn(Array("s", "a"), "c"),
      TableChange.setProperty("k", "v"),
      TableChange.setProperty("k", "w"),
      TableChange.removeProperty("nothing"),
      TableChange.setProperty("comment", "of the table")
    )
    val metadataAfter = metadataOf(t)
    assert(metadataAfter.metadataLog.size == metadataBefore.metadataLog.size + 1)
    assert(metadataAfter.schema.asStruct.toString == "struct<1: id: optional long, " +
      "2: s: optional struct<3: c: optional int, 4: b: optional long>>")
    assert(metadataAfter.properties("k") == "w" && metadataAfter.properties("comment") == "of the table")
  }

  test("an ALTER with an invalid change leaves the table unchanged") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    val e = intercept[AnalysisException] {
      lite.alterTable(
        ident(t),
        TableChange.addColumn(Array("x"), IntegerType),
        TableChange.setProperty("commit.retry.num-retries", "-1")
      )
    }
    assert(e.getMessage.contains(t) && e.getMessage.contains("commit.retry.num-retries"))
    assert(metadataOf(t).schema.fields.map(_.name) == Vector("id"))
  }

  test("errors have the exception classes that Spark users catch, and contain the table name") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    assert(intercept[NoSuchTableException](lite.loadTable(ident(t + "x"))).getMessage.contains(t + "x"))
    assert(intercept[NoSuchNamespaceException](lite.listTables(Array("nowhere"))).getMessage.contains("nowhere"))
    val exists = intercept[TableAlreadyExistsException] {
      lite.createTable(ident(t), Array.empty[Column], Array.empty[Transform], new java.util.HashMap[String, String])
    }
    assert(exists.getMessage.contains(t) && exists.getCause.isInstanceOf[IcebergError])
  }

  test("an error for an unknown table suggests a table with a similar name") {
    val t = newTable("flights")
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    val e = intercept[NoSuchTableException](lite.loadTable(ident(t.replace("flights", "fligths"))))
    assert(e.getMessage.contains(s"Did you mean ${t.split('.').last}?"))
    val analysis = intercept[AnalysisException](spark.table(t.replace("flights", "fligths")))
    assert(analysis.getErrorClass == "TABLE_OR_VIEW_NOT_FOUND")
    assert(analysis.getMessage.contains(s"did you mean `${t.split('.').last}`?"))
    assert(!spark.catalog.tableExists(t.replace("flights", "fligths")))
  }

  test("the error for truncated or invalid metadata contains the table and the file, and the table can be dropped") {
    Seq("{\"format-version\": 2, ", "not JSON", "", "[]").foreach { contents =>
      val t = newTable("broken")
      sql(s"CREATE TABLE $t (id INT) USING iceberg")
      val file = Paths.get(java.net.URI.create(metadataOf(t).location + "/metadata/v1.metadata.json"))
      Files.write(file, contents.getBytes(UTF_8))
      lite.invalidateTable(ident(t))
      val e = intercept[AnalysisException](spark.table(t))
      val InvalidMetadata(path, _, _, _) = e.getCause
      assert(path.endsWith("/v1.metadata.json") && e.getMessage.contains(t), contents)
      sql(s"DROP TABLE $t")
      assert(!spark.catalog.tableExists(t))
    }
  }

  /** Adds a column without the catalogs of this session, as another program would. */
  private def addColumnByOtherProgram(table: String): Unit = {
    val paths = new PathTables(new HadoopFileIO(new Configuration))
    paths.table(metadataOf(table).location).transaction()
      .add(new UpdateSchema(_.addColumn(Vector.empty, "x", IntType))).commit()
    ()
  }

  test("commits are immediately visible in every session of the program that made them") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    val otherSession = spark.newSession()
    assert(otherSession.table(t).columns.toSeq == Seq("id"))
    sql(s"ALTER TABLE $t ADD COLUMN x INT")
    assert(spark.table(t).columns.toSeq == Seq("id", "x") && otherSession.table(t).columns.toSeq == Seq("id", "x"))
    otherSession.sql(s"INSERT INTO $t VALUES (1, 2)")
    assert(spark.table(t).count() == 1)
    sql(s"CREATE OR REPLACE TABLE $t (name STRING) USING iceberg")
    assert(otherSession.table(t).columns.toSeq == Seq("name"))
    sql(s"DROP TABLE $t")
    intercept[AnalysisException](otherSession.table(t))
  }

  test("a dropped table no longer exists in other sessions, even if the dropping session never read it") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1)")
    assert(spark.table(t).count() == 1)
    val otherSession = spark.newSession()
    otherSession.sql(s"DROP TABLE $t")
    intercept[AnalysisException](spark.table(t))
    otherSession.sql(s"CREATE TABLE $t USING iceberg AS SELECT 'x' AS name")
    assert(spark.table(t).collect().map(_.getString(0)).toSeq == Seq("x"))
    val location = sql(s"DESCRIBE EXTENDED $t").where("col_name = 'Location'").head().getString(1)
    otherSession.sql(s"DROP TABLE lite.`$location`")
    intercept[AnalysisException](spark.table(t))
  }

  test("a table name with a slash that is not an absolute path is rejected") {
    val error = intercept[AnalysisException](sql("CREATE TABLE lite.db.`a/b` (id INT) USING iceberg"))
    assert(error.getMessage.contains("must not be empty, contain a slash"))
    assert(!Files.exists(java.nio.file.Paths.get("a")))
  }

  test("a commit to a table by its path is visible under its name, and vice versa") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    val path = s"lite.`${metadataOf(t).location}`"
    assert(sql(s"SELECT * FROM $path").count() == 0)
    sql(s"INSERT INTO $t VALUES (1)")
    assert(sql(s"SELECT * FROM $path").count() == 1)
    sql(s"INSERT INTO $path VALUES (2)")
    assert(spark.table(t).count() == 2)
  }

  test("commits of another program are visible after REFRESH TABLE") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    addColumnByOtherProgram(t)
    assert(spark.table(t).columns.toSeq == Seq("id"))
    sql(s"REFRESH TABLE $t")
    assert(spark.table(t).columns.toSeq == Seq("id", "x"))
  }

  test("if tables are not cached, every load of a table has the newest metadata") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    val (cacheless, zeroInterval) = (spark.newSession(), spark.newSession())
    cacheless.conf.set("spark.sql.catalog.lite.cache-enabled", "false")
    zeroInterval.conf.set("spark.sql.catalog.lite.cache.expiration-interval-ms", "0")
    val sessions = Seq(cacheless, zeroInterval)
    sessions.foreach(session => assert(session.table(t).columns.toSeq == Seq("id")))
    addColumnByOtherProgram(t)
    sessions.foreach(session => assert(session.table(t).columns.toSeq == Seq("id", "x")))
  }

  test("a DataFrame keeps its columns, and returns rows that its session added after the DataFrame was created") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    val frame = spark.table(t)
    assert(frame.count() == 0)
    sql(s"INSERT INTO $t VALUES (1)")
    sql(s"ALTER TABLE $t ADD COLUMN x INT")
    assert(frame.count() == 1 && frame.columns.toSeq == Seq("id"))
  }

  test("a table that is created with the name of a dropped table has none of the old columns and rows") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg")
    sql(s"INSERT INTO $t VALUES (1)")
    sql(s"DROP TABLE $t")
    sql(s"CREATE TABLE $t (name STRING) USING iceberg")
    assert(spark.table(t).columns.toSeq == Seq("name") && spark.table(t).count() == 0)
  }

  test("a statement whose query fails halfway creates no table and leaves an existing table unchanged") {
    val t = newTable()
    val failing = "SELECT IF(id = 90, raise_error('half way'), id) AS id FROM range(0, 100, 1, 1)"
    def assertFails(statement: String) =
      assert(intercept[SparkException](sql(statement)).getMessage.contains("half way"), statement)
    assertFails(s"CREATE TABLE $t USING iceberg AS $failing")
    assert(!spark.catalog.tableExists(t))
    sql(s"CREATE TABLE $t USING iceberg AS SELECT 1 AS a")
    assertFails(s"CREATE OR REPLACE TABLE $t USING iceberg AS $failing")
    assertFails(s"INSERT INTO $t SELECT CAST(id AS INT) FROM ($failing)")
    assert(rows(s"SELECT * FROM $t").map(_.getInt(0)) == Seq(1))
    val data = FilesBelow.of(Paths.get(java.net.URI.create(metadataOf(t).location + "/data")))
    assert(data.count(_.toString.endsWith(".parquet")) == 1)
  }

  test("a misspelled catalog property and a missing type are reported when the catalog is first used") {
    val session = spark.newSession()
    session.conf.set("spark.sql.catalog.typo", classOf[SparkCatalog].getName)
    session.conf.set("spark.sql.catalog.typo.type", "hadoop")
    session.conf.set("spark.sql.catalog.typo.warehose", "/tmp/x")
    val typo = intercept[AnalysisException](session.sql("SHOW NAMESPACES IN typo"))
    val InvalidArgument(_, misspelled, advice) = typo.getCause
    assert(misspelled == "warehose" && advice.endsWith("Did you mean warehouse?"))
    session.conf.set("spark.sql.catalog.untyped", classOf[SparkCatalog].getName)
    val untyped = intercept[AnalysisException](session.sql("SHOW NAMESPACES IN untyped"))
    val InvalidArgument(missing, _, _) = untyped.getCause
    assert(missing == "type of catalog untyped")
  }

  test("the error for a warehouse that cannot be written contains table and path, and no files are left") {
    val file = Files.createFile(newDirectory().resolve("file"))
    val session = spark.newSession()
    val settings = Seq("type" -> "hadoop", "warehouse" -> s"$file/warehouse")
    SharedSession.catalogConf("closed", classOf[SparkCatalog].getName, settings: _*)
      .foreach { case (key, value) => session.conf.set(key, value) }
    Seq("CREATE TABLE closed.db.t (id INT) USING iceberg", "CREATE TABLE closed.db.t USING iceberg AS SELECT 1 AS id")
      .foreach { statement =>
        val e = intercept[Exception](session.sql(statement))
        assert(e.getMessage.contains("closed.db.t") && e.getMessage.contains(s"$file/warehouse/db/t"), statement)
      }
    assert(Files.size(file) == 0)
  }

  test("new tables have the table defaults and overrides of the catalog, and USE selects its default-namespace") {
    val session = spark.newSession()
    val settings = Map(
      "type" -> "hadoop",
      "warehouse" -> newDirectory().toUri.toString,
      "default-namespace" -> "a.b",
      "table-default.x" -> "default",
      "table-default.y" -> "default",
      "table-override.z" -> "override",
      "table-default.format-version" -> "1"
    )
    SharedSession.catalogConf("fresh", classOf[SparkCatalog].getName, settings.toSeq: _*)
      .foreach { case (key, value) => session.conf.set(key, value) }
    session.sql("USE fresh")
    session.sql("CREATE TABLE t (id INT) USING iceberg TBLPROPERTIES ('y' = 'mine', 'z' = 'mine')")
    val propertyRows = session.sql("SHOW TBLPROPERTIES fresh.a.b.t").collect()
    val properties = propertyRows.map(r => r.getString(0) -> r.getString(1)).toMap
    assert(properties.filterKeys(Set("x", "y", "z", "format-version")) ==
      Map("x" -> "default", "y" -> "mine", "z" -> "override", "format-version" -> "1"))
  }

  test("a table is described with its own properties and with those derived from metadata") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT) USING iceberg COMMENT 'about' TBLPROPERTIES ('k' = 'v')")
    val described = rows(s"DESCRIBE TABLE EXTENDED $t").map(r => r.getString(0) -> r.getString(1)).toMap
    assert(described("Name") == t && described("Provider") == "iceberg" && described("Comment") == "about")
    assert(described("Location") == metadataOf(t).location)
    val properties = rows(s"SHOW TBLPROPERTIES $t").map(r => r.getString(0) -> r.getString(1)).toMap
    assert(properties.filterKeys(Set("k", "format", "current-snapshot-id", "format-version")) ==
      Map("k" -> "v", "format" -> "iceberg/parquet", "current-snapshot-id" -> "none", "format-version" -> "2"))
  }

  test("the output of SHOW CREATE TABLE creates the same table again") {
    Seq("lite", "litejdbc").foreach { catalog =>
      val t = newTable(catalog = catalog)
      def showCreateTable: String = rows(s"SHOW CREATE TABLE $t").head.getString(0).replace("file:///", "file:/")
      sql(s"CREATE TABLE $t (id BIGINT NOT NULL COMMENT 'it\\'s', `a b` STRING, ts TIMESTAMP) USING iceberg " +
        "PARTITIONED BY (`a b`, days(ts), truncate(3, id)) COMMENT 'c' TBLPROPERTIES ('k' = 'v')")
      val created = showCreateTable
      sql(s"DROP TABLE $t")
      sql(created)
      assert(showCreateTable == created)
    }
  }

  test("iceberg-lite and Apache Iceberg show each other's tables with the same columns and partitioning") {
    Seq("lite", "litejdbc").foreach { catalog =>
      val (liteTable, peerTable) = (newTable(catalog = catalog), newTable(catalog = catalog))
      val definition = "(id BIGINT NOT NULL, s STRUCT<a: INT>, l ARRAY<STRING>, ts TIMESTAMP) USING iceberg " +
        "PARTITIONED BY (days(ts), bucket(4, id), truncate(3, id))"
      sql(s"CREATE TABLE $liteTable $definition")
      sql(s"CREATE TABLE ${inApacheIceberg(peerTable)} $definition")
      Seq(liteTable, peerTable).foreach { t =>
        val (liteColumns, peerColumns) = (rows(s"DESCRIBE TABLE $t"), rows(s"DESCRIBE TABLE ${inApacheIceberg(t)}"))
        assert(liteColumns.map(r => (r(0), r(1))) == peerColumns.map(r => (r(0), r(1))), t)
      }
      assert(sorted(s"SHOW TABLES IN $catalog.$ns") == sorted(s"SHOW TABLES IN ${inApacheIceberg(catalog)}.$ns"))
    }
  }

  test("an absolute path as a table name selects the table at this path") {
    val path = newDirectory().resolve("t").toString
    sql(s"CREATE TABLE lite.`$path` (id INT) USING iceberg")
    sql(s"ALTER TABLE lite.`$path` ADD PARTITION FIELD bucket(2, id)")
    sql(s"INSERT INTO lite.`$path` VALUES (1)")
    assert(rows(s"SELECT * FROM lite.`$path`").map(_.getInt(0)) == Seq(1))
    assert(rows(s"SELECT operation FROM lite.`$path#snapshots`").map(_.getString(0)) == Seq("append"))
    assert(rows(s"SELECT operation FROM lite.`$path`.snapshots").map(_.getString(0)) == Seq("append"))
    val e = intercept[AnalysisException](sql(s"SELECT * FROM lite.`$path#snapshotz`"))
    assert(e.getMessage.contains("snapshotz") && e.getMessage.contains("snapshots, "))
    sql(s"DROP TABLE lite.`$path`")
    assert(!spark.catalog.tableExists(s"lite.`$path`") && !Files.exists(Paths.get(path)))
  }

  test("column names that differ only in case are distinguished if the session is case-sensitive") {
    withConf("spark.sql.caseSensitive" -> "true") {
      val t = newTable()
      sql(s"CREATE TABLE $t (a INT, A STRING) USING iceberg PARTITIONED BY (A)")
      sql(s"INSERT INTO $t VALUES (1, 'x')")
      assert(rows(s"SELECT a, A FROM $t WHERE A = 'x'").map(_.toSeq) == Seq(Seq(1, "x")))
    }
  }

  test("the error for a filter on a missing column lists the existing columns") {
    val t = newTable()
    sql(s"CREATE TABLE $t (id INT, name STRING) USING iceberg")
    val e = intercept[AnalysisException](spark.table(t).where("nmae = 'x'"))
    assert(e.getMessage.contains("`nmae`") && e.getMessage.contains("`name`"))
  }

  test("the catalog's functions are found in the namespace system") {
    assert(rows("SHOW USER FUNCTIONS IN lite.system").map(_.getString(0)).exists(_.contains("bucket")))
    assert(rows("SELECT lite.system.bucket(16, 34)").map(_.getInt(0)) == Seq(3))
  }
}
