package iceberglite.catalog

import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tagobjects.Slow

import iceberglite.Sampling
import iceberglite.catalog.CatalogFixture.Id
import iceberglite.servers.Servers
import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict, NotFound, ValidationFailed}
import iceberglite.storage.{HadoopFileIO, S3Storage}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.FastAppend

/**
 * Tests the file-system catalog on a server with the interface of S3, without any other service. The server is moto
 * behind a lock that makes conditional writes atomic, so the tests do not show how S3 itself behaves.
 */
class S3CatalogSuite extends AnyFunSuite {
  private val Writers = 8
  private val Appends = 2
  private val manyRetries = Map("commit.retry.num-retries" -> "1000", "commit.retry.min-wait-ms" -> "1")

  /** @param suffix path of the warehouse within the bucket; empty if the warehouse is the whole bucket */
  private def withWarehouse(suffix: String = "/wh")(body: (String, HadoopFileIO) => Unit): Unit =
    body(s"s3://${Servers.s3.newBucket()}$suffix", S3Storage.files(S3Storage.testServer))

  private def open(warehouse: String, io: HadoopFileIO): Catalog =
    Catalogs.open("lite", Map("type" -> "hadoop", "warehouse" -> warehouse), io, environment)

  private def append(table: Table, path: String): Table =
    table.transaction().add(new FastAppend(Vector(file(path)))).commit()

  private def inParallel[A](bodies: Seq[() => A]): Seq[A] = {
    val pool = Executors.newFixedThreadPool(bodies.size)
    try {
      val tasks = bodies.map(body => new Callable[A] { override def call(): A = body() })
      pool.invokeAll(tasks.asJava, 2, TimeUnit.MINUTES).asScala.map(_.get)
    } finally pool.shutdownNow()
  }

  for (suffix <- Seq("/wh", "", "/a b/ü%20#+"))
    test(
      s"namespaces and tables are created, listed and dropped: bucket$suffix",
      Sampling.slowInSomeRunsUnless(suffix == "/a b/ü%20#+"): _*
    ) {
      withWarehouse(suffix) { (warehouse, io) =>
        val catalog = open(warehouse, io)
        assert(catalog.listNamespaces(Vector.empty).isEmpty)
        catalog.createNamespace(Vector("db"), Map.empty)
        assert(catalog.listNamespaces(Vector.empty) == Vector(Vector("db")) && catalog.listTables(Vector("db")).isEmpty)
        val table = append(append(catalog.create(Id, unpartitioned()), "x"), "y")
        assert(table.location == s"$warehouse/db/t")
        intercept[AlreadyExists](catalog.create(Id, unpartitioned()))
        assert(catalog.listTables(Vector("db")) == Vector(Id) && liveFiles(open(warehouse, io).table(Id)) == Vector(
          "x",
          "y"
        ))
        assert(new PathTables(io).table(table.location).metadata == table.metadata)
        intercept[ValidationFailed](catalog.dropNamespace(Vector("db")))
        assert(catalog.drop(Id, purge = true) && !catalog.drop(Id, purge = false))
        intercept[NotFound](catalog.table(Id))
        assert(catalog.dropNamespace(Vector("db")) && catalog.listNamespaces(Vector.empty).isEmpty)
      }
    }

  test(s"$Writers concurrent writers on S3 lose no rows and leave no unreferenced files", Slow) {
    withWarehouse() { (warehouse, io) =>
      open(warehouse, io).create(Id, TableCreation(schema, properties = manyRetries))
      inParallel((1 to Writers).map { writer => () =>
        (1 to Appends).foldLeft(open(warehouse, io).table(Id))((table, i) => append(table, s"w$writer-$i"))
      })
      val table = open(warehouse, io).table(Id)
      val expected = for (w <- 1 to Writers; i <- 1 to Appends) yield s"w$w-$i"
      assert(liveFiles(table) == expected.sorted.toVector)
      assert(table.metadata.lastSequenceNumber == Writers * Appends)
      val found = io.list(s"${table.location}/metadata").map(_.path).filterNot(_.endsWith("/version-hint.text")).toSet
      assert(found == reachable(io, table.version))
    }
  }

  test(s"of $Writers concurrent creations of a table on S3 exactly one succeeds") {
    withWarehouse() { (warehouse, io) =>
      val outcomes = inParallel((1 to Writers).map { _ => () =>
        try {
          open(warehouse, io).create(Id, unpartitioned())
          true
        } catch { case _: AlreadyExists | _: CommitConflict => false }
      })
      assert(outcomes.count(identity) == 1)
    }
  }

  test("old metadata files, compressed or not, are deleted on S3 if the table property is set", Slow) {
    for (codec <- Seq("none", "gzip")) withWarehouse() { (warehouse, io) =>
      val properties = Seq(
        "write.metadata.delete-after-commit.enabled" -> "true",
        "write.metadata.previous-versions-max" -> "2",
        "write.metadata.compression-codec" -> codec
      )
      val last =
        (1 to 5).foldLeft(open(warehouse, io).create(Id, unpartitioned(properties: _*)))((t, i) => append(t, s"f$i"))
      val names = io.list(s"${last.location}/metadata").map(_.path.split('/').last).filter(_.contains(".metadata.json"))
      val infix = if (codec == "gzip") ".gz" else ""
      assert(names.sorted == Vector("v4", "v5", "v6").map(v => s"$v$infix.metadata.json"))
      assert(liveFiles(open(warehouse, io).table(Id)).size == 5)
    }
  }
}
