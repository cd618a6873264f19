package iceberglite.catalog

import java.nio.file.{Files, Path}
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture.Id
import iceberglite.io.{FileIO, HadoopFileIO}
import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict, CommitStateUnknown, StorageFailed}
import iceberglite.table.TestTables._
import iceberglite.table._
import iceberglite.table.action.{FastAppend, UpdateProperties}

/** Writers at work at the same time, on real files. */
class ConcurrencySuite extends AnyFunSuite {
  private val Threads = 8
  private val Appends = 10
  private val patient = Map("commit.retry.num-retries" -> "1000", "commit.retry.min-wait-ms" -> "1")

  private def open(kind: String, directory: Path): Catalog = {
    val io: FileIO = new HadoopFileIO(new Configuration(false))
    val properties =
      Map("type" -> kind, "warehouse" -> s"file://$directory/wh", "uri" -> s"jdbc:sqlite:$directory/catalog.db")
    Catalogs.open("lite", properties, io)
  }

  private def withDirectory(body: Path => Unit): Unit = {
    val directory = Files.createTempDirectory("concurrency")
    try body(directory)
    finally new HadoopFileIO(new Configuration(false)).deleteDirectory(directory.toString)
  }

  private def inParallel[A](bodies: Seq[() => A]): Seq[A] = {
    val pool = Executors.newFixedThreadPool(bodies.size)
    try {
      val tasks = bodies.map(body => new Callable[A] { override def call(): A = body() })
      pool.invokeAll(tasks.asJava, 5, TimeUnit.MINUTES).asScala.map(_.get)
    } finally pool.shutdownNow()
  }

  private def files(directory: Path, ending: String): Set[String] = {
    val walk = Files.walk(directory)
    try walk.iterator.asScala.map(_.toString).filter(_.endsWith(ending)).toSet
    finally walk.close()
  }

  for (kind <- Seq("hadoop", "jdbc"); shared <- Seq(true, false)) {
    val who = if (shared) "threads of one catalog" else "catalogs of their own"
    test(s"nothing of $Threads writers is lost, and nothing is left over: $kind, $who") {
      withDirectory { directory =>
        val first = open(kind, directory)
        first.create(Id, TableCreation(schema, properties = patient))
        val catalogs = (1 to Threads).map(_ => if (shared) first else open(kind, directory))
        inParallel(catalogs.zipWithIndex.map { case (catalog, writer) =>
          () =>
            (1 to Appends).foldLeft(catalog.table(Id)) { (table, i) =>
              table.transaction().add(new FastAppend(Vector(file(s"w$writer-$i")))).commit()
            }
        })
        val table = first.table(Id)
        val expected = for (w <- 0 until Threads; i <- 1 to Appends) yield s"w$w-$i"
        assert(liveFiles(table) == expected.sorted.toVector)
        assert(table.metadata.snapshots.size == Threads * Appends)
        assert(table.metadata.lastSequenceNumber == Threads * Appends)
        assert(table.currentSnapshot.get.summary("total-records") == (Threads * Appends * 10).toString)
        val needed = reachable(table.io, table.version).map(_.stripPrefix("file://"))
        assert(files(directory, ".avro") == needed.filter(_.endsWith(".avro")))
        assert(files(directory, ".metadata.json").size == Threads * Appends + 1)
        catalogs.foreach(_.close())
      }
    }

    test(s"nothing is lost where old metadata is deleted at once: $kind, $who") {
      withDirectory { directory =>
        val first = open(kind, directory)
        val deleting = patient ++
          Map("write.metadata.delete-after-commit.enabled" -> "true", "write.metadata.previous-versions-max" -> "1")
        first.create(Id, TableCreation(schema, properties = deleting))
        val catalogs = (1 to Threads).map(_ => if (shared) first else open(kind, directory))
        inParallel(catalogs.zipWithIndex.map { case (catalog, writer) =>
          () => {
            // Each writer goes on from its own last version, however stale that is.
            var table = catalog.table(Id)
            (1 to Appends).foreach { i =>
              val before = table
              table.transaction().add(new FastAppend(Vector(file(s"w$writer-$i")))).commit()
              if (i % 3 == 0) table = before.refresh()
            }
          }
        })
        assert(liveFiles(first.table(Id)).size == Threads * Appends)
        assert(first.table(Id).metadata.snapshots.size == Threads * Appends)
        assert(files(directory, ".metadata.json").size <= 3)
        catalogs.foreach(_.close())
      }
    }

    test(s"of $Threads who create a table one wins: $kind, $who") {
      withDirectory { directory =>
        val first = open(kind, directory)
        first.createNamespace(Vector("db"), Map.empty)
        val catalogs = (1 to Threads).map(_ => if (shared) first else open(kind, directory))
        val outcomes = inParallel(catalogs.map { catalog => () =>
          try {
            catalog.create(Id, unpartitioned())
            true
          } catch { case _: AlreadyExists | _: CommitConflict => false }
        })
        assert(outcomes.count(identity) == 1)
        assert(files(directory, ".metadata.json").size == 1)
        catalogs.foreach(_.close())
      }
    }

    test(s"changes of properties and appends go together: $kind, $who") {
      withDirectory { directory =>
        val first = open(kind, directory)
        first.create(Id, TableCreation(schema, properties = patient))
        val catalogs = (1 to Threads).map(_ => if (shared) first else open(kind, directory))
        inParallel(catalogs.zipWithIndex.map { case (catalog, writer) =>
          () =>
            val action =
              if (writer % 2 == 0) new FastAppend(Vector(file(s"w$writer")))
              else new UpdateProperties(Map(s"p$writer" -> "set"))
            catalog.table(Id).transaction().add(action).commit()
        })
        val table = first.table(Id)
        assert(liveFiles(table).size == Threads / 2)
        assert(table.properties.keys.count(_.matches("p\\d")) == Threads / 2)
        catalogs.foreach(_.close())
      }
    }
  }

  for (kind <- Seq("hadoop", "jdbc")) test(s"a writer that is interrupted leaves the table whole: $kind") {
    withDirectory { directory =>
      val catalog = open(kind, directory)
      catalog.create(Id, TableCreation(schema, properties = patient))
      val random = new scala.util.Random(7)
      (1 to 60).foreach { i =>
        @volatile var outcome: Option[Throwable] = None
        val before = catalog.table(Id)
        val writer = new Thread(() =>
          try before.transaction().add(new FastAppend(Vector(file(s"f$i")))).commit()
          catch { case e: Throwable => outcome = Some(e) }
        )
        writer.start()
        Thread.sleep(random.nextInt(8).toLong)
        writer.interrupt()
        writer.join()
        val after = catalog.table(Id)
        val there = liveFiles(after).contains(s"f$i")
        outcome match {
          case None => assert(there)
          case Some(_: CommitStateUnknown) => ()
          case Some(failure) =>
            assert(!there, s"$failure says that the commit did not happen")
            val needed = reachable(after.io, after.version).map(_.stripPrefix("file://"))
            assert(files(directory, ".avro").subsetOf(needed), s"$failure left something")
        }
      }
      catalog.close()
    }
  }

  test("a warehouse that cannot be written to is one error that names the place") {
    withDirectory { directory =>
      Files.write(directory.resolve("wh"), Array.emptyByteArray)
      val error = intercept[StorageFailed](open("hadoop", directory).create(Id, unpartitioned()))
      assert(error.getMessage.contains(s"$directory/wh/db/t/metadata"))
      assert(error.getMessage.contains(s"Check that the warehouse file://$directory/wh is a writable directory"))
      val other = intercept[StorageFailed](open("jdbc", directory).create(Id, unpartitioned()))
      assert(other.getMessage.contains(s"$directory/wh/db/t/metadata/00000-"))
      assert(other.getMessage.contains(s"Check that the warehouse file://$directory/wh"))
    }
  }
}
