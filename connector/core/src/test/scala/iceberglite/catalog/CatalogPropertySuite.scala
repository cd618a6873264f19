package iceberglite.catalog

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{InvalidArgument, Unsupported}
import iceberglite.table.MemoryFileIO

class CatalogPropertySuite extends AnyFunSuite {
  private def open(properties: (String, String)*): Catalog = Catalogs.open("lite", properties.toMap, new MemoryFileIO)

  test("a misspelt property is refused, with the one that was meant") {
    Seq("warehuose" -> "warehouse", "wharehouse" -> "warehouse", "Warehouse" -> "warehouse", "tpye" -> "type").foreach {
      case (wrong, right) =>
        val error = intercept[InvalidArgument](CatalogProperty.check("lite", Map(wrong -> "x")))
        assert(error.getMessage.contains(s"catalog lite: $wrong."))
        assert(error.getMessage.contains(s"Did you mean $right?"))
    }
    intercept[InvalidArgument](open("type" -> "hadoop", "warehouse" -> "mem://wh", "cache-enable" -> "false"))
  }

  test("properties that are known, belong to others or are like none are left alone") {
    val known = Seq("type", "uri", "io-impl", "clients")
    val others = Seq("jdbc.usr", "s3.endpont", "header.X", "table-default.a", "my-own", "ab")
    CatalogProperty.check("lite", (known ++ others).map(_ -> "x").toMap)
  }

  test("no known property is taken for another") {
    val keys = CatalogProperty.all.map(_.key)
    assert(keys.distinct == keys)
    CatalogProperty.check("lite", keys.map(_ -> "x").toMap)
  }

  test("a catalog without type, warehouse or uri says what is missing") {
    assert(intercept[InvalidArgument](open("warehouse" -> "mem://wh")).getMessage.contains("type of catalog lite"))
    assert(intercept[InvalidArgument](open("type" -> "hadoop")).getMessage.contains("warehouse of catalog lite"))
    assert(intercept[InvalidArgument](open("type" -> "hadoop", "warehouse" -> " ")).getMessage.contains("warehouse"))
    val jdbc = intercept[InvalidArgument](open("type" -> "jdbc", "warehouse" -> "mem://wh"))
    assert(jdbc.getMessage.contains("uri of catalog lite") && jdbc.getMessage.contains("jdbc:sqlite:"))
    intercept[InvalidArgument](open("type" -> "jdbc", "warehouse" -> "mem://wh", "uri" -> "http://x"))
  }

  test("kinds that are not there are refused, with those that are") {
    assert(intercept[Unsupported](open("type" -> "glue")).getMessage.contains("hadoop, jdbc"))
    assert(intercept[InvalidArgument](open("type" -> "hadop")).getMessage.contains("hadoop, jdbc"))
    intercept[Unsupported](open("catalog-impl" -> "com.example.Mine"))
  }

  test("a warehouse is kept whole and without a slash at its end") {
    assert(Warehouse.of("s3a://bucket/wh//") == "s3a://bucket/wh")
    assert(Warehouse.of("/wh/") == "/wh")
    assert(Warehouse.of("/") == "/")
    assert(Warehouse.of("file:///") == "file:///")
    val here = java.nio.file.Paths.get("").toAbsolutePath.toString
    assert(Warehouse.of("some/wh/") == s"$here/some/wh" && Warehouse.of("./wh") == s"$here/wh")
  }

  test("the nearest spelling wins") {
    assert(Spelling.closest("commt", Seq("commit", "comet")).contains("comet"))
    assert(Spelling.closest("committ", Seq("commit", "comet")).contains("commit"))
    assert(Spelling.closest("io", Seq("uri")).isEmpty && Spelling.closest("url", Seq("uri")).contains("uri"))
  }
}
