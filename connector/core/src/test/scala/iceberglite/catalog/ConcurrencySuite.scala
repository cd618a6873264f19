package iceberglite.catalog

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import iceberglite.{FilesBelow, Sampling}
import iceberglite.catalog.CatalogFixture.Id
import iceberglite.catalog.hive.HiveFixture
import iceberglite.spec.IcebergError.{AlreadyExists, CommitConflict, CommitStateUnknown, StorageFailed}
import iceberglite.storage.{FileIO, HadoopFileIO}
import iceberglite.table._
import iceberglite.table.TestTables._
import iceberglite.table.action.{FastAppend, UpdateProperties}

/** Tests concurrent writers on tables whose files are on the local disk. */
class ConcurrencySuite extends AnyFunSuite {
  private val Threads = 8
  private val manyRetries = Map("commit.retry.num-retries" -> "1000", "commit.retry.min-wait-ms" -> "1")

  /** The fixtures in `allExceptRest` except S3, which [[S3CatalogSuite]] tests. */
  private val fixtures = CatalogFixture.allExceptRest.filterNot(_ == S3Fixture)

  /**
   * Returns no tag, or the tags of a slow test for the Hive catalog. Most runs of the slow tier omit these tests (see
   * [[Sampling]]), because Hive also has suites of its own.
   */
  private def slow(fixture: CatalogFixture): Seq[Tag] = Sampling.slowInSomeRunsUnless(fixture != HiveFixture)

  private def open(place: Place, io: FileIO = new HadoopFileIO(new Configuration(false))): Catalog = {
    val properties = place.properties + ("warehouse" -> s"file://${place.directory}/wh")
    place.fixture.adapted(Catalogs.open("lite", properties, io))
  }

  /** A kind of catalog, a temporary directory for its warehouse, and the properties to open it with. */
  private case class Place(fixture: CatalogFixture, directory: Path, properties: Map[String, String])

  private def withLocation(fixture: CatalogFixture)(body: Place => Unit): Unit = fixture.withStore { store =>
    val directory = Files.createTempDirectory("concurrency")
    try body(Place(fixture, directory, fixture.properties(store)))
    finally new HadoopFileIO(new Configuration(false)).deleteDirectory(directory.toString)
  }

  private def inParallel[A](bodies: Seq[() => A]): Seq[A] = {
    val pool = Executors.newFixedThreadPool(bodies.size)
    try {
      val tasks = bodies.map(body => new Callable[A] { override def call(): A = body() })
      pool.invokeAll(tasks.asJava, 5, TimeUnit.MINUTES).asScala.map(_.get)
    } finally pool.shutdownNow()
  }

  private def files(directory: Path, ending: String): Set[String] =
    FilesBelow.of(directory).map(_.toString).filter(_.endsWith(ending))

  for (fixture <- fixtures; shared <- Seq(true, false)) {
    val usage = if (shared) "threads of one catalog" else "one catalog per thread"
    test(
      s"$Threads concurrent writers lose no rows and leave no unreferenced files: ${fixture.kind}, $usage",
      slow(fixture): _*
    ) {
      withLocation(fixture) { place =>
        val first = open(place)
        first.create(Id, TableCreation(schema, properties = manyRetries))
        val catalogs = (1 to Threads).map(_ => if (shared) first else open(place))
        inParallel(catalogs.zipWithIndex.map { case (catalog, writer) =>
          () =>
            (1 to fixture.appends).foldLeft(catalog.table(Id)) { (table, i) =>
              table.transaction().add(new FastAppend(Vector(file(s"w$writer-$i")))).commit()
            }
        })
        val table = first.table(Id)
        val expected = for (w <- 0 until Threads; i <- 1 to fixture.appends) yield s"w$w-$i"
        assert(liveFiles(table) == expected.sorted.toVector)
        assert(table.metadata.snapshots.size == Threads * fixture.appends)
        assert(table.metadata.lastSequenceNumber == Threads * fixture.appends)
        assert(table.currentSnapshot.get.summary("total-records") == (Threads * fixture.appends * 10).toString)
        val needed = reachable(table.io, table.version).map(_.replaceFirst("^file:/+", "/"))
        assert(files(place.directory, ".avro") == needed.filter(_.endsWith(".avro")))
        assert(files(place.directory, ".metadata.json").size == Threads * fixture.appends + 1)
        catalogs.foreach(_.close())
      }
    }

    test(s"no rows are lost when old metadata is deleted immediately: ${fixture.kind}, $usage", slow(fixture): _*) {
      withLocation(fixture) { place =>
        val first = open(place)
        val deleting = manyRetries ++
          Map("write.metadata.delete-after-commit.enabled" -> "true", "write.metadata.previous-versions-max" -> "1")
        first.create(Id, TableCreation(schema, properties = deleting))
        val catalogs = (1 to Threads).map(_ => if (shared) first else open(place))
        inParallel(catalogs.zipWithIndex.map { case (catalog, writer) =>
          () => {
            // The base version is loaded again only after every third append, so the other appends have a stale base.
            var table = catalog.table(Id)
            (1 to fixture.appends).foreach { i =>
              val before = table
              table.transaction().add(new FastAppend(Vector(file(s"w$writer-$i")))).commit()
              if (i % 3 == 0) table = before.refresh()
            }
          }
        })
        assert(liveFiles(first.table(Id)).size == Threads * fixture.appends)
        assert(first.table(Id).metadata.snapshots.size == Threads * fixture.appends)
        assert(files(place.directory, ".metadata.json").size <= 3)
        catalogs.foreach(_.close())
      }
    }

    test(s"of $Threads concurrent creations of a table only one succeeds: ${fixture.kind}, $usage", slow(fixture): _*) {
      withLocation(fixture) { place =>
        val first = open(place)
        first.createNamespace(Vector("db"), Map.empty)
        val catalogs = (1 to Threads).map(_ => if (shared) first else open(place))
        val outcomes = inParallel(catalogs.map { catalog => () =>
          try {
            catalog.create(Id, unpartitioned())
            true
          } catch { case _: AlreadyExists | _: CommitConflict => false }
        })
        assert(outcomes.count(identity) == 1)
        assert(files(place.directory, ".metadata.json").size == 1)
        catalogs.foreach(_.close())
      }
    }

    test(s"concurrent property changes and appends all succeed: ${fixture.kind}, $usage", slow(fixture): _*) {
      withLocation(fixture) { place =>
        val first = open(place)
        first.create(Id, TableCreation(schema, properties = manyRetries))
        val catalogs = (1 to Threads).map(_ => if (shared) first else open(place))
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

  /** A storage that interrupts the thread of a writer at one of its storage calls. */
  final private class Interrupting extends FileIOWrapper(new HadoopFileIO(new Configuration(false))) {
    private val calls = new AtomicInteger
    @volatile private var writer = Option.empty[Thread]
    @volatile var hits = 0

    /** Interrupts `thread` at its storage call with the number `call`, counted from now. */
    def interruptAt(call: Int, thread: Thread): Unit = {
      writer = Some(thread)
      calls.set(-call)
    }

    private def counted[A](body: => A): A = {
      if (calls.incrementAndGet() == 0) writer.filter(_.isAlive).foreach { thread =>
        hits += 1
        thread.interrupt()
      }
      body
    }

    override def read(path: String): Array[Byte] = counted(super.read(path))
    override def exists(path: String): Boolean = counted(super.exists(path))
    override def delete(path: String): Unit = counted(super.delete(path))
    override def replace(path: String, contents: Array[Byte]): Unit = counted(super.replace(path, contents))
    override def write(path: String, contents: Array[Byte]): Unit = counted(super.write(path, contents))
    override def createExclusively(path: String, contents: Array[Byte]): Boolean =
      counted(super.createExclusively(path, contents))
  }

  for (fixture <- fixtures)
    test(s"interrupting a writer leaves the table consistent: ${fixture.kind}", slow(fixture): _*) {
      withLocation(fixture) { place =>
        val io = new Interrupting
        val catalog = open(place, io)
        catalog.create(Id, TableCreation(schema, properties = manyRetries))
        (1 to 24).foreach { i =>
          @volatile var outcome: Option[Throwable] = None
          val before = catalog.table(Id)
          val writer = new Thread(() =>
            try before.transaction().add(new FastAppend(Vector(file(s"f$i")))).commit()
            catch { case e: Throwable => outcome = Some(e) }
          )
          io.interruptAt(1 + i % 4, writer)
          writer.start()
          writer.join()
          val after = catalog.table(Id)
          val isCommitted = liveFiles(after).contains(s"f$i")
          outcome match {
            case None => assert(isCommitted)
            case Some(_: CommitStateUnknown) => ()
            case Some(failure) =>
              assert(!isCommitted, s"the commit is visible, but failed with $failure")
              val needed = reachable(after.io, after.version).map(_.replaceFirst("^file:/+", "/"))
              assert(files(place.directory, ".avro").subsetOf(needed), s"$failure left unreferenced files")
          }
        }
        assert(io.hits >= 12, "too few writers were interrupted")
        catalog.close()
      }
    }

  for (fixture <- CatalogFixture.hadoopAndJdbc)
    test(s"the error for a warehouse that is not a writable directory contains its location: ${fixture.kind}") {
      withLocation(fixture) { place =>
        Files.write(place.directory.resolve("wh"), Array.emptyByteArray)
        val error = intercept[StorageFailed](open(place).create(Id, unpartitioned()))
        assert(error.getMessage.contains(s"${place.directory}/wh/db/t/metadata"))
        val advice = s"Check that the warehouse file://${place.directory}/wh is a writable directory"
        assert(error.getMessage.contains(advice))
      }
    }
}
