package iceberglite.spark.catalog

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession

/** Tests that a purged table leaves none of its directories, and that other directories are kept. */
class PurgedDirectoriesSuite extends AnyFunSuite with SharedSession {

  test("DROP TABLE PURGE leaves no directory of the table, in file-system and JDBC catalogs") {
    for ((catalog, warehouse) <- Seq("lite" -> SharedSession.warehouse, "litejdbc" -> SharedSession.jdbcWarehouse)) {
      val t = newTable(catalog = catalog)
      sql(s"CREATE TABLE $t (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p, bucket(2, id))")
      sql(s"INSERT INTO $t SELECT id, concat('p', id % 3) FROM range(10)")
      sql(s"INSERT OVERWRITE $t VALUES (1, 'x')")
      val directory = warehouse.resolve(ns).resolve(t.split('.').last)
      assert(Files.isDirectory(directory))
      sql(s"DROP TABLE $t PURGE")
      assert(!Files.exists(directory), catalog)
    }
  }

  test("DROP TABLE PURGE keeps links and empty directories that the table did not create, in a JDBC catalog") {
    val t = newTable(catalog = "litejdbc")
    sql(s"CREATE TABLE $t (id BIGINT, p STRING) USING iceberg PARTITIONED BY (p)")
    sql(s"INSERT INTO $t SELECT id, concat('p', id % 3) FROM range(10)")
    val directory = SharedSession.jdbcWarehouse.resolve(ns).resolve(t.split('.').last)
    val foreign = Files.createDirectories(directory.resolve("foreign/empty"))
    val inData = Files.createDirectories(directory.resolve("data/p=other"))
    val link = Files.createSymbolicLink(directory.resolve("link"), foreign)
    sql(s"DROP TABLE $t PURGE")
    assert(Files.isDirectory(foreign) && Files.isDirectory(inData) && Files.isSymbolicLink(link))
    assert(!Files.exists(directory.resolve("metadata")) && !Files.exists(directory.resolve("data/p=p1")))
    Seq(link, foreign, foreign.getParent, inData, inData.getParent, directory).foreach(path => Files.delete(path))
  }
}
