package iceberglite.spark.catalog

import java.nio.file.Files

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spark.SharedSession

/** Tests that a purged table leaves no directories. */
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
}
