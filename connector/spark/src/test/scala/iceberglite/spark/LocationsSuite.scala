package iceberglite.spark

import java.nio.file.{Files, Path}

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.FilesBelow
import iceberglite.spark.error.Causes

/** Checks tables at locations with unusual characters or layouts, and that Apache Iceberg uses the same locations. */
class LocationsSuite extends AnyFunSuite with SharedSession {

  private def files(directory: Path, ending: String): Vector[String] =
    FilesBelow.of(directory).map(directory.relativize(_).toString).filter(_.endsWith(ending)).toVector.sorted

  private def fill(table: String): Unit = {
    sql(s"INSERT INTO $table VALUES (1, 'a b'), (2, 'c/d')")
    sql(s"INSERT INTO $table VALUES (3, 'e=f:g')")
    sql(s"DELETE FROM $table WHERE id = 2")
    ()
  }

  private val expected = Seq("[1,a b]", "[3,e=f:g]")

  private val names =
    Seq("a b", "a%20b", "ü ö", "p+q", "x=1&y", "a#b", "what?", "colon:ed", "back\\slash", "end/", "a%2Fb", "~")

  for ((name, i) <- names.zipWithIndex) {
    val prefix = Seq("file://", "", "file:")(i % 3)
    test(s"a table at '$prefix…/$name' is written, read and purged") {
      val parent = newDirectory()
      val table = newTable(catalog = "litejdbc")
      val location = s"$prefix$parent/${name.replace("\\", "\\\\")}"
      sql(s"CREATE TABLE $table (id BIGINT, c STRING) PARTITIONED BY (c) LOCATION '$location'")
      fill(table)
      assert(sorted(s"SELECT * FROM $table") == expected)
      val directory = parent.resolve(name)
      assert(files(directory.resolve("data"), ".parquet").size >= 2)
      assert(files(directory.resolve("metadata"), ".avro").nonEmpty)
      sql(s"DROP TABLE $table PURGE")
      assert(!files(directory, "").exists(f => Files.isRegularFile(directory.resolve(f))))
    }
  }

  for (
    layout <-
      Seq(Map.empty[String, String], Map("write.object-storage.partitioned-paths" -> "false"), Map("path" -> ""))
  )
    test(s"data files are spread over hashed directories, and Apache Iceberg uses the same layout: $layout") {
      val otherDirectory = newDirectory("data")
      val dataPath = layout.get("path").map(_ => "write.data.path" -> otherDirectory.toString)
      val properties = (layout - "path" + ("write.object-storage.enabled" -> "true") ++ dataPath)
        .map { case (key, value) => s"'$key' = '$value'" }.mkString(", ")
      val table = newTable(catalog = "litejdbc")
      val location = newDirectory("table").resolve("db/t")
      sql(
        s"CREATE TABLE $table (id BIGINT, c STRING) USING iceberg PARTITIONED BY (c) LOCATION '$location' " +
          s"TBLPROPERTIES ($properties)"
      )
      sql(s"INSERT INTO $table VALUES (1, 'a')")
      sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (2, 'b')")
      spark.catalog.refreshTable(table)
      assert(sorted(s"SELECT * FROM $table") == Seq("[1,a]", "[2,b]"))
      assert(sorted(s"SELECT * FROM ${inApacheIceberg(table)}") == Seq("[1,a]", "[2,b]"))
      val hash = "[01]{4}/[01]{4}/[01]{4}/[01]{8}"
      val shape =
        if (layout.contains("path")) s"$hash/db/t/c=[ab]/[^/]+\\.parquet"
        else if (layout.isEmpty) s"$hash/c=[ab]/[^/]+\\.parquet"
        else s"$hash-[^/]+\\.parquet"
      val dataFiles = files(if (layout.contains("path")) otherDirectory else location.resolve("data"), ".parquet")
      assert(dataFiles.size == 2 && dataFiles.forall(_.matches(shape)), dataFiles)
      sql(s"DROP TABLE $table PURGE")
      assert(files(location, ".parquet").isEmpty)
      assert(
        files(otherDirectory, ".parquet").size == (if (layout.contains("path")) 2 else 0),
        "other data must be kept"
      )
    }

  test("metadata can be in another directory, to which Apache Iceberg also writes its metadata") {
    val otherDirectory = newDirectory("meta data")
    val table = newTable(catalog = "litejdbc")
    sql(s"CREATE TABLE $table (id BIGINT, c STRING) TBLPROPERTIES ('write.metadata.path' = 'file://$otherDirectory/m')")
    fill(table)
    sql(s"INSERT INTO ${inApacheIceberg(table)} VALUES (4, 'z')")
    spark.catalog.refreshTable(table)
    assert(sorted(s"SELECT * FROM $table") == expected :+ "[4,z]")
    assert(files(otherDirectory.resolve("m"), ".metadata.json").size >= 5)
    assert(files(otherDirectory.resolve("m"), ".avro").nonEmpty)
  }

  test("a CREATE TABLE AS SELECT that fails leaves no file, no directory and no namespace") {
    val namespacesBefore = rows(s"SHOW NAMESPACES IN lite.$ns")
    for (
      statement <- Seq(
        "PARTITIONED BY (id) AS SELECT id, raise_error('on purpose') FROM range(9)",
        "AS SELECT id, if(id = 7, raise_error('on purpose'), 'x') AS c FROM range(0, 9, 1, 3)"
      )
    ) {
      val error = intercept[Exception](sql(s"CREATE TABLE lite.$ns.never $statement"))
      assert(Causes.of(error).exists(_.getMessage.contains("on purpose")), statement)
    }
    assert(!Files.exists(SharedSession.warehouse.resolve(s"$ns/never")))
    assert(rows(s"SHOW NAMESPACES IN lite.$ns") == namespacesBefore)
  }

  test("with unique-table-location, a table that is dropped and created again gets another default location", Slow) {
    val database = Seq(
      "type" -> "jdbc",
      "uri" -> s"jdbc:sqlite:${newDirectory().resolve("unique.db")}",
      "warehouse" -> newDirectory().toUri.toString
    )
    val settings = database ++ Seq("catalog-name" -> "uniqueice", "unique-table-location" -> "true")
    val conf = SharedSession.catalogConf("unique", classOf[SparkCatalog].getName, settings: _*) ++
      SharedSession.catalogConf("uniqueice", SharedSession.PeerCatalog, database :+ ("cache-enabled" -> "false"): _*)
    withConf(conf.toSeq: _*) {
      sql("CREATE NAMESPACE unique.db")
      def createTable(ddl: String): String = {
        sql(ddl)
        assert(rows("SELECT * FROM unique.db.t") == rows("SELECT * FROM uniqueice.db.t"))
        val location = rows("DESCRIBE TABLE EXTENDED unique.db.t").find(_.getString(0) == "Location").get.getString(1)
        sql("DROP TABLE unique.db.t")
        location
      }
      val locations = (1 to 2).map(_ => createTable("CREATE TABLE unique.db.t USING iceberg AS SELECT 1L AS id"))
      assert(locations.distinct.size == 2 && locations.forall(_.matches(".*/db/t-[0-9a-f]{32}")), locations)
      val chosen = s"${newDirectory()}/mine"
      assert(
        createTable(s"CREATE TABLE unique.db.t USING iceberg LOCATION '$chosen' AS SELECT 2L AS id").endsWith(chosen)
      )
    }
  }
}
