package iceberglite.spec

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.StorageFailed

class PlaceSuite extends AnyFunSuite {
  test("the message of a failed operation names the file, the server, the catalog or the table") {
    val file = StorageFailed.at("write", "/wh/f", "The disk is full")
    assert(file.place == Place.Path("/wh/f") && file.getMessage == "Cannot write /wh/f: The disk is full")
    val messages = Seq(
      StorageFailed("list tables in", Place.CatalogDatabase("jdbc:x"), "Down") ->
        "Cannot list tables in the catalog database jdbc:x: Down",
      StorageFailed("list tables at", Place.RestCatalog("http://h"), "Down") ->
        "Cannot list tables at the REST catalog http://h: Down",
      StorageFailed("connect to", Place.HiveMetastore("thrift://h"), "Down") ->
        "Cannot connect to the Hive Metastore thrift://h: Down",
      StorageFailed("get a token from", Place.Server("http://h"), "Down") -> "Cannot get a token from http://h: Down",
      StorageFailed("lock", Place.CatalogObject("db.t"), "Busy") -> "Cannot lock db.t: Busy",
      StorageFailed("write", Place.OfTable(file.place, "db.t"), "Full") -> "Cannot write /wh/f of table db.t: Full"
    )
    messages.foreach { case (error, message) => assert(error.getMessage == message) }
  }
}
