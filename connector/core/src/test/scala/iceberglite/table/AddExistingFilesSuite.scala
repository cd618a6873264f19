package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.{Catalog, CatalogFixture}
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.file.ContentFile
import iceberglite.spec.json.NameMappingJson
import iceberglite.spec.schema.NameMapping
import iceberglite.table.TestTables._
import iceberglite.table.action.{AddExistingFiles, AddNameMapping, FastAppend, RemoveFiles}

/** Tests [[AddExistingFiles]] and [[AddNameMapping]], the actions of the procedure `add_files`. */
class AddExistingFilesSuite extends AnyFunSuite {
  private val paths = Vector("/elsewhere/1", "/elsewhere/2")
  private val files: Vector[ContentFile] = paths.map(file(_))

  private def withTable(body: Table => Unit): Unit = CatalogFixture.Hadoop.withStore { store =>
    val catalog: Catalog = CatalogFixture.Hadoop.open(store, store.files)
    paths.foreach(store.files.write(_, Array[Byte](1)))
    body(catalog.create(CatalogFixture.Id, unpartitioned()))
  }

  private def commit(table: Table, action: Action): Table =
    table.transaction(Map.empty, environment).add(action).commit()

  private def add(checksDuplicates: Boolean = true): AddExistingFiles = new AddExistingFiles(files, checksDuplicates)

  test("a file that is already in the table is rejected, even if its path is written in another way") {
    withTable { empty =>
      val table = commit(empty, add())
      assert(liveFiles(table) == paths && table.currentSnapshot.get.summary("operation") == "append")
      for (path <- Seq("/elsewhere/1", "file:/elsewhere//1", "file:///elsewhere/1")) {
        val again = new AddExistingFiles(Vector(file(path)), checksDuplicates = true)
        assert(intercept[ValidationFailed](commit(table, again)).getMessage.contains("/elsewhere/1"), path)
      }
      assert(liveFiles(commit(table, add(checksDuplicates = false))).size == 4)
      val removed = commit(table.refresh(), new RemoveFiles(paths.toSet))
      assert(liveFiles(commit(removed, add())) == paths)
    }
  }

  test("a file that occurs twice among the added files is rejected") {
    withTable { table =>
      val twice = Vector(file("/elsewhere/1"), file("file:/elsewhere/1"))
      val message = intercept[ValidationFailed](commit(table, new AddExistingFiles(twice, checksDuplicates = true)))
      assert(message.getMessage.contains("more than once"))
      assert(liveFiles(commit(table, new AddExistingFiles(twice, checksDuplicates = false))).size == 2)
    }
  }

  test("a file that a concurrent commit has added is rejected") {
    withTable { table =>
      commit(table, new FastAppend(Vector(file("other"))))
      commit(table, new FastAppend(files.take(1)))
      assert(intercept[ValidationFailed](commit(table, add())).getMessage.contains("1 of the files"))
    }
  }

  test("files are not deleted if the commit fails") {
    withTable { table =>
      commit(table, add())
      intercept[ValidationFailed](commit(table, add()))
      assert(paths.forall(table.io.exists))
    }
  }

  test("files are not deleted if a staged table is aborted") {
    CatalogFixture.Hadoop.withStore { store =>
      val catalog: Catalog = CatalogFixture.Hadoop.open(store, store.files)
      paths.foreach(store.files.write(_, Array[Byte](1)))
      val staged = catalog.stage(CatalogFixture.Id, unpartitioned(), StageMode.Create)
      commit(staged.table, add())
      staged.abort()
      assert(store.files.paths == paths.toSet)
    }
  }

  test("a table gets a name mapping only if it has none") {
    withTable { table =>
      val key = "schema.name-mapping.default"
      val mapped = commit(table, new AddNameMapping)
      assert(NameMappingJson.parse(key, mapped.properties(key)) == NameMapping.of(schema))
      assert(commit(mapped, new AddNameMapping).metadataLocation == mapped.metadataLocation)
    }
  }
}
