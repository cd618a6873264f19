package iceberglite.catalog

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Proxy}
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{Callable, Executors, TimeUnit}

import scala.annotation.tailrec
import scala.collection.JavaConverters._

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.Sampling
import iceberglite.catalog.jdbc.SampleViews
import iceberglite.spec.IcebergError.{
  AlreadyExists,
  CommitConflict,
  CommitStateUnknown,
  NotFound,
  Unsupported,
  ValidationFailed
}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.spec.update.MetadataUpdate.{AssignUuid, SetProperties}
import iceberglite.spec.update.ViewRequirement
import iceberglite.spec.view.{ViewMetadata, ViewRepresentation}
import iceberglite.table.TestTables._
import iceberglite.table.{Crash, Fault, FaultyFileIO, TableIdentifier, TestTables, ViewChange}

/** Tests the changes to views in every kind of catalog. */
class ViewOperationsSuite extends AnyFunSuite {
  private val View = TableIdentifier(Vector("db"), "v")
  private val schema = Schema(0, Vector(NestedField.optional(1, "n", LongType)))
  private val Writers = 4

  private def define(query: String, dialect: String = "spark"): ViewDefinition =
    ViewDefinition(schema, ViewRepresentation.Sql(query, dialect), Map("engine-name" -> "test"), None, Vector("db"))

  private def views(catalog: Catalog): ViewCatalog = catalog match {
    case views: ViewCatalog => views
    case other => fail(s"$other does not support views")
  }

  private def operations(catalog: Catalog): ViewOperations = new ViewOperations(views(catalog), TestTables.environment)

  private def open(fixture: CatalogFixture, store: CatalogFixture.Store): ViewCatalog = {
    val catalog = views(Catalogs.open("lite", fixture.properties(store), store.files, TestTables.environment))
    if (!catalog.namespaceExists(Vector("db"))) catalog.createNamespace(Vector("db"), Map.empty)
    catalog
  }

  private def onEach(name: String)(body: (CatalogFixture, CatalogFixture.Store) => Unit): Unit =
    CatalogFixture.allWithRest.foreach { fixture =>
      val tags = Sampling.slowInSomeRunsUnless(CatalogFixture.embedded.contains(fixture))
      test(s"$name: ${fixture.kind}", tags: _*)(fixture.withStore { store =>
        try body(fixture, store)
        finally open(fixture, store).dropView(View)
      })
    }

  private def withCatalog(name: String)(body: (ViewCatalog, ViewOperations) => Unit): Unit =
    onEach(name) { (fixture, store) =>
      val catalog = open(fixture, store)
      body(catalog, operations(catalog))
    }

  /** Returns the catalog, with an action that runs immediately before the first commit of a view. */
  private def beforeFirstCommit(catalog: ViewCatalog)(action: () => Any): ViewCatalog = {
    val isPending = new AtomicBoolean(true)
    val handler: InvocationHandler = (_, method, arguments) => {
      if (method.getName == "commitView" && isPending.getAndSet(false)) action()
      try method.invoke(catalog, Option(arguments).toSeq.flatten: _*)
      catch { case failed: InvocationTargetException => throw failed.getCause }
    }
    Proxy.newProxyInstance(getClass.getClassLoader, Array(classOf[ViewCatalog]), handler) match {
      case proxy: ViewCatalog => proxy
    }
  }

  private def query(view: ViewMetadata): String = view.currentVersion.sql("spark").getOrElse("")

  withCatalog("a view is created, listed, replaced, rolled back and dropped") { (catalog, views) =>
    val created = views.create(View, define("SELECT 1 n"), Map("a" -> "b"), None).metadata
    intercept[AlreadyExists](views.create(View, define("SELECT 2 n"), Map.empty, None))
    assert(catalog.listViews(Vector("db")) == Vector(View) && catalog.viewExists(View))
    assert(!catalog.tableExists(View) && catalog.listTables(Vector("db")).isEmpty)
    views.createOrReplace(View, define("SELECT 2 n"), Map("c" -> "d"), None)
    val rolledBack = views.rollback(View, created.currentVersionId, Set("c", "e")).metadata
    assert(catalog.loadView(View).metadata == rolledBack && query(rolledBack) == "SELECT 1 n")
    assert(rolledBack.versions.map(_.versionId) == Vector(1, 2) && rolledBack.uuid == created.uuid)
    assert(rolledBack.versionLog.map(_.versionId) == Vector(1, 2, 1))
    assert(rolledBack.properties.filterKeys(Set("a", "c", "e")) == Map("a" -> "b"))
    val altered = views.alterProperties(View, Map("c" -> "x"), Set("a")).metadata
    assert(altered.properties.get("c").contains("x") && !altered.properties.contains("a"))
    assert(altered.versionLog == rolledBack.versionLog)
    intercept[NotFound](views.rollback(View, 7, Set.empty))
    assert(catalog.dropView(View) && !catalog.dropView(View) && catalog.listViews(Vector("db")).isEmpty)
    intercept[NotFound](catalog.loadView(View))
    intercept[NotFound](views.replace(View, define("SELECT 1 n"), Map.empty))
  }

  onEach("a view is registered from its metadata file, or the catalog rejects registrations") { (fixture, store) =>
    val catalog = open(fixture, store)
    val created = operations(catalog).create(View, define("SELECT 1 n"), Map.empty, None)
    if (fixture.kind.startsWith("hadoop"))
      intercept[Unsupported](catalog.registerView(View, created.metadataLocation))
    else {
      intercept[AlreadyExists](catalog.registerView(View, created.metadataLocation))
      val other = View.copy(name = "w")
      try {
        val registered = catalog.registerView(other, created.metadataLocation)
        assert(registered.metadata == created.metadata && catalog.loadView(other) == registered)
        assert(catalog.loadView(View) == created)
      } finally catalog.dropView(other)
      // The server of a REST catalog decides which files it deletes.
      if (fixture.kind != "rest")
        assert(catalog.loadView(View) == created, "dropping one of two names must keep the metadata file")
    }
  }

  withCatalog("queries in other dialects are kept, unless a view property allows dropping them") { (catalog, views) =>
    views.create(View, define("SELECT 1 n", "trino"), Map.empty, None)
    val added = views.replace(View, define("SELECT 2 n"), Map.empty).metadata.currentVersion
    assert(added.sql("trino").contains("SELECT 1 n") && added.sql("spark").contains("SELECT 2 n"))
    val dropped = views.replace(View, define("SELECT 3 n"), Map(ViewMetadata.DropDialectProperty -> "true"))
    assert(dropped.metadata.currentVersion.dialects == Vector("spark", "trino"))
    views.replace(View, define("SELECT 4 n"), Map.empty)
    assert(catalog.loadView(View).metadata.currentVersion.dialects == Vector("spark"))
  }

  onEach("concurrent replacements of a view lose no version") { (fixture, store) =>
    val first = open(fixture, store)
    val properties = Map(
      "commit.retry.num-retries" -> "100",
      "commit.retry.min-wait-ms" -> "1",
      "version.history.num-entries" -> "100"
    )
    operations(first).create(View, define("SELECT 0 n"), properties, None)
    val pool = Executors.newFixedThreadPool(Writers)
    try {
      val writers = (1 to Writers).map { writer =>
        new Callable[Unit] {
          override def call(): Unit = {
            val own = operations(open(fixture, store))
            (1 to 3).foreach(i => own.replace(View, define(s"SELECT ${writer * 10 + i} n"), Map.empty))
          }
        }
      }
      pool.invokeAll(writers.asJava, 2, TimeUnit.MINUTES).asScala.foreach(_.get)
    } finally pool.shutdownNow()
    val view = first.loadView(View).metadata
    val queries = view.versions.flatMap(_.sql("spark"))
    val expected = 0 +: (for (writer <- 1 to Writers; i <- 1 to 3) yield writer * 10 + i)
    assert(queries.toSet == expected.map(n => s"SELECT $n n").toSet && queries.size == expected.size)
    assert(view.versions.map(_.versionId) == (1 to expected.size).toVector)
    assert(view.versionLog.map(_.versionId) == view.versions.map(_.versionId))
  }

  withCatalog("a commit that is based on a dropped view fails if the view was created again") { (catalog, views) =>
    views.create(View, define("SELECT 1 n"), Map.empty, None)
    val before = catalog.loadView(View)
    catalog.dropView(View)
    views.create(View, define("SELECT 2 n"), Map.empty, None)
    val requirement = before.metadata.uuid.map(ViewRequirement.AssertViewUuid).toVector
    val update = SetProperties(Map("a" -> "b"))
    intercept[CommitConflict](
      catalog.commitView(View, Some(before), ViewChange(Vector(update), requirement))
    )
    assert(query(catalog.loadView(View).metadata) == "SELECT 2 n")
  }

  withCatalog("a change fails with both UUIDs if the view is dropped and created again during the change") {
    (catalog, views) =>
      def changes: Seq[ViewOperations => Any] = Seq(
        _.replace(View, define("SELECT 3 n"), Map.empty),
        _.createOrReplace(View, define("SELECT 3 n"), Map.empty, None),
        _.alterProperties(View, Map("a" -> "b"), Set.empty),
        _.rollback(View, 1, Set.empty)
      )
      changes.foreach { change =>
        val before = views.create(View, define("SELECT 1 n"), Map.empty, None).metadata
        val recreating = beforeFirstCommit(catalog) { () =>
          catalog.dropView(View)
          views.create(View, define("SELECT 2 n"), Map.empty, None)
        }
        val error = intercept[ValidationFailed](change(operations(recreating)))
        val after = catalog.loadView(View).metadata
        assert(before.uuid.isDefined && after.uuid.isDefined && before.uuid != after.uuid)
        val uuids = s"its UUID was ${before.uuid.get} and is now ${after.uuid.get}. Load the view again"
        assert(error.getMessage.startsWith(s"View lite.$View was dropped or replaced in the meantime: $uuids"))
        assert(query(after) == "SELECT 2 n" && after.versions.size == 1 && !after.properties.contains("a"))
        catalog.dropView(View)
      }
  }

  test("a view without a UUID, as in early view metadata, gets a UUID when it is changed") {
    CatalogFixture.Hadoop.withStore { store =>
      val catalog = open(CatalogFixture.Hadoop, store)
      val updates = SampleViews.create(catalog.defaultLocation(View), "SELECT 1 n").updates
      val early = ViewChange(updates.filterNot(_.isInstanceOf[AssignUuid]), Vector.empty)
      assert(catalog.commitView(View, None, early).metadata.uuid.isEmpty)
      val changed = operations(catalog).alterProperties(View, Map("a" -> "b"), Set.empty).metadata
      assert(changed.uuid.isDefined && catalog.loadView(View).metadata == changed)
      assert(operations(catalog).replace(View, define("SELECT 2 n"), Map.empty).metadata.uuid == changed.uuid)
    }
  }

  test("the properties view-default and view-override set properties of new views") {
    CatalogFixture.Hadoop.withStore { store =>
      val properties = CatalogFixture.Hadoop.properties(store) ++
        Map("view-default.a" -> "1", "view-default.b" -> "2", "view-override.c" -> "3")
      val catalog = Catalogs.open("lite", properties, store.files, TestTables.environment)
      val view = operations(catalog).create(View, define("SELECT 1 n"), Map("b" -> "x", "c" -> "y"), None).metadata
      assert(view.properties == Map("a" -> "1", "b" -> "x", "c" -> "3"))
    }
  }

  test("a view in a file-system catalog cannot have a table's name or a custom location, and cannot be renamed") {
    CatalogFixture.Hadoop.withStore { store =>
      val catalog = open(CatalogFixture.Hadoop, store)
      val table = TableIdentifier(Vector("db"), "t")
      catalog.create(table, unpartitioned())
      operations(catalog).create(View, define("SELECT 1 n"), Map.empty, None)
      intercept[AlreadyExists](operations(catalog).create(table, define("SELECT 1 n"), Map.empty, None))
      val taken = intercept[AlreadyExists](catalog.create(View, unpartitioned()))
      assert(taken.getMessage.startsWith("View already exists"))
      val other = table.copy(name = "x")
      intercept[Unsupported](operations(catalog).create(other, define("SELECT 1 n"), Map.empty, Some("mem://o")))
      intercept[Unsupported](catalog.renameView(View, other))
      assert(catalog.listTables(Vector("db")) == Vector(table) && catalog.listNamespaces(Vector("db")).isEmpty)
      assert(!catalog.namespaceExists(Vector("db", "v")))
      intercept[ValidationFailed](catalog.dropNamespace(Vector("db")))
      assert(store.files.paths.exists(_.endsWith("/db/v/metadata/v1.view.json")))
      assert(catalog.dropView(View) && !store.files.paths.exists(_.contains("/db/v/")))
    }
  }

  for (fault <- Fault.all)
    test(
      s"after a fault ($fault) in a file-system catalog, a failed change has no effect unless the outcome is unknown"
    ) {
      everyCall(fault, Vector.empty, views => views.create(View, define("SELECT 1 n"), Map.empty, None))
      everyCall(fault, Vector("SELECT 0 n"), views => views.replace(View, define("SELECT 1 n"), Map.empty))
    }

  /** Runs the change repeatedly. In each run, injects the fault into the next one of the change's storage calls. */
  @tailrec
  private def everyCall(fault: Fault, existing: Vector[String], change: ViewOperations => Any, at: Int = 1): Unit = {
    val calls = CatalogFixture.Hadoop.withStore { store =>
      val clean = open(CatalogFixture.Hadoop, store)
      existing.foreach(query => operations(clean).create(View, define(query), Map.empty, None))
      val faulty = new FaultyFileIO(store.files, at, fault)
      val properties = CatalogFixture.Hadoop.properties(store)
      val catalog = views(Catalogs.open("lite", properties, faulty, TestTables.environment))
      val outcome =
        try Right(change(operations(catalog)))
        catch { case e: Throwable => Left(e) }
      val found = if (clean.viewExists(View)) Vector(query(clean.loadView(View).metadata)) else Vector.empty
      withClue(s"$fault at call $at gave $outcome: ") {
        outcome match {
          case Right(_) => assert(found == Vector("SELECT 1 n"))
          case Left(_: CommitStateUnknown | _: Crash | _: OutOfMemoryError) =>
            assert(found == existing || found == Vector("SELECT 1 n"))
          case Left(_) => assert(found == existing)
        }
      }
      faulty.calls
    }
    if (calls >= at) everyCall(fault, existing, change, at + 1)
  }
}
