package iceberglite.catalog

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.spec.IcebergError.{AlreadyExists, CommitStateUnknown, StorageFailed}
import iceberglite.spec.schema.Schema
import iceberglite.spec.types.NestedField
import iceberglite.spec.types.Type.LongType
import iceberglite.spec.view.{ViewMetadata, ViewRepresentation}
import iceberglite.storage.FileIO
import iceberglite.table.TestTables._
import iceberglite.table.{MemoryFileIO, TableIdentifier, TestTables}

/**
 * Tests concurrent changes of views in a file-system catalog. Directly before or after one writer creates or deletes a
 * file, another writer makes a change.
 */
class HadoopViewRacesSuite extends AnyFunSuite {
  import HadoopViewRacesSuite.Racing

  private val View = TableIdentifier(Vector("db"), "v")
  private val schema = Schema(0, Vector(NestedField.optional(1, "n", LongType)))

  private def define(query: String): ViewDefinition =
    ViewDefinition(schema, ViewRepresentation.Sql(query, "spark"), Map.empty, None, Vector("db"))

  /** A catalog on the given files, and the operations of its views. */
  private class Opened(files: FileIO) {
    val catalog: ViewCatalog =
      new HadoopCatalog("lite", Map.empty, "mem://wh", files, TestTables.environment)
    val views = new ViewOperations(catalog, TestTables.environment)

    def create(query: String): ViewMetadata = views.create(View, define(query), Map.empty, None).metadata
    def replace(query: String): ViewMetadata = views.replace(View, define(query), Map.empty).metadata
    def query: String = catalog.loadView(View).metadata.currentVersion.sql("spark").getOrElse("")
  }

  /**
   * Runs the body with two catalogs on the same files.
   *
   * @param name the name of a file; `other` runs when the first catalog creates or deletes this file for the first time
   * @param after whether `other` runs directly after the file is created or deleted, and not directly before
   * @param other the change that the second catalog makes
   */
  private def racing(
      name: String,
      after: Boolean = false
  )(other: Opened => Any)(body: (Opened, Opened) => Unit): Unit = {
    val files = new MemoryFileIO
    val theirs = new Opened(files)
    theirs.catalog.createNamespace(Vector("db"), Map.empty)
    body(new Opened(new Racing(files, name, after)(other(theirs))), theirs)
  }

  for (after <- Seq(false, true)) {
    val moment = if (after) "directly after" else "directly before"

    test(s"a new table and a view with the same name do not both remain if the view is created $moment the table") {
      racing("v1.metadata.json", after)(theirs =>
        if (!after) theirs.create("SELECT 1 n") else intercept[AlreadyExists](theirs.create("SELECT 1 n"))
      ) { (ours, theirs) =>
        if (after) ours.catalog.create(View, unpartitioned())
        else {
          val error = intercept[AlreadyExists](ours.catalog.create(View, unpartitioned()))
          assert(error.getMessage.startsWith("View already exists: lite.db.v"))
        }
        assert(theirs.catalog.viewExists(View) != theirs.catalog.tableExists(View))
        assert(theirs.catalog.tableExists(View) == after)
      }
    }

    test(s"a new view and a table with the same name do not both remain if the table is created $moment the view") {
      racing("v1.view.json", after)(theirs =>
        if (!after) theirs.catalog.create(View, unpartitioned())
        else intercept[AlreadyExists](theirs.catalog.create(View, unpartitioned()))
      ) { (ours, theirs) =>
        if (after) ours.create("SELECT 1 n")
        else {
          val error = intercept[AlreadyExists](ours.create("SELECT 1 n"))
          assert(error.getMessage.startsWith("Table already exists: lite.db.v"))
        }
        assert(theirs.catalog.viewExists(View) != theirs.catalog.tableExists(View))
        assert(theirs.catalog.viewExists(View) == after)
      }
    }
  }

  test("if a table and a view are created with the same name and the table cannot be deleted, the outcome is unknown") {
    val files = new MemoryFileIO
    val theirs = new Opened(files)
    val undeletable = new Racing(files, "v1.metadata.json", after = false)(theirs.create("SELECT 1 n")) {
      override def delete(path: String): Unit = throw StorageFailed.at("delete", path, "by the test")
    }
    intercept[CommitStateUnknown](new Opened(undeletable).catalog.create(View, unpartitioned()))
  }

  test("a view is gone after a drop, even if it is replaced while its files are deleted") {
    racing("v1.view.json")(_.replace("SELECT 2 n")) { (ours, theirs) =>
      theirs.create("SELECT 1 n")
      assert(ours.catalog.dropView(View) && !theirs.catalog.viewExists(View) && !ours.catalog.dropView(View))
      assert(theirs.catalog.listViews(Vector("db")).isEmpty)
    }
  }

  test("CREATE VIEW IF NOT EXISTS succeeds if the view is created concurrently") {
    racing("v1.view.json")(_.create("SELECT 1 n")) { (ours, theirs) =>
      assert(ours.views.createIfNotExists(View, define("SELECT 2 n"), Map.empty, None).isEmpty)
      assert(theirs.query == "SELECT 1 n" && theirs.catalog.dropView(View))
      assert(ours.views.createIfNotExists(View, define("SELECT 3 n"), Map.empty, None).isDefined)
      assert(ours.views.createIfNotExists(View, define("SELECT 4 n"), Map.empty, None).isEmpty)
      assert(theirs.query == "SELECT 3 n")
    }
  }

  test("CREATE OR REPLACE VIEW replaces a view that is created concurrently") {
    racing("v1.view.json")(_.create("SELECT 1 n")) { (ours, theirs) =>
      val view = ours.views.createOrReplace(View, define("SELECT 2 n"), Map.empty, None).metadata
      assert(view.versions.size == 2 && theirs.query == "SELECT 2 n")
    }
  }

  test("CREATE OR REPLACE VIEW creates the view again if it is dropped concurrently") {
    racing("v2.view.json")(_.catalog.dropView(View)) { (ours, theirs) =>
      val first = theirs.create("SELECT 1 n")
      val view = ours.views.createOrReplace(View, define("SELECT 2 n"), Map.empty, None).metadata
      assert(view.versions.size == 1 && view.uuid != first.uuid && theirs.query == "SELECT 2 n")
    }
  }

  test("CREATE OR REPLACE VIEW fails if a table with its name is created concurrently") {
    racing("v1.view.json")(_.catalog.create(View, unpartitioned())) { (ours, theirs) =>
      intercept[AlreadyExists](ours.views.createOrReplace(View, define("SELECT 2 n"), Map.empty, None))
      assert(theirs.catalog.tableExists(View) && !theirs.catalog.viewExists(View))
    }
  }
}

private object HadoopViewRacesSuite {

  /**
   * Storage that runs the change `other` of another writer when a given file is created or deleted for the first time.
   *
   * @param name the name of the file
   * @param after whether `other` runs directly after the file is created or deleted, and not directly before
   */
  private class Racing(files: FileIO, name: String, after: Boolean)(other: => Any) extends FileIOWrapper(files) {
    private var isPending = true

    private def around[A](path: String)(call: => A): A = {
      val races = isPending && path.endsWith(s"/$name")
      if (races) isPending = false
      if (races && !after) other
      val result = call
      if (races && after) other
      result
    }

    override def createExclusively(path: String, contents: Array[Byte]): Boolean =
      around(path)(super.createExclusively(path, contents))

    override def delete(path: String): Unit = around(path)(super.delete(path))
  }
}
