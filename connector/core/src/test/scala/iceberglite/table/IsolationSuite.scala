package iceberglite.table

import org.scalatest.funsuite.AnyFunSuite

import iceberglite.catalog.CatalogFixture
import iceberglite.spec.IcebergError.ValidationFailed
import iceberglite.spec.Literal.StringLiteral
import iceberglite.spec.expr.Expression
import iceberglite.spec.expr.Expression.Equal
import iceberglite.spec.expr.Term.Named
import iceberglite.table.TestTables._
import iceberglite.table.action._

class IsolationSuite extends AnyFunSuite {
  private def category(c: String): Expression = Equal(Named("category"), StringLiteral(c))

  private def withTable(body: Table => Unit): Unit = CatalogFixture.Hadoop.withStore { store =>
    val table = CatalogFixture.Hadoop.open(store, store.files).create(CatalogFixture.Id, byCategory())
    body(commit(table, new FastAppend(Vector(fileOf("a", "a1"), fileOf("b", "b1")))))
  }

  private def commit(table: Table, action: Action): Table =
    table.transaction(Map.empty, environment).add(action).commit()

  private def since(table: Table, level: IsolationLevel): Option[Isolation] =
    Some(Isolation(level, table.metadata.currentSnapshotId))

  private def overwriteA(table: Table, level: IsolationLevel): Table =
    commit(table, new OverwriteFiles(category("a"), Vector(fileOf("a", "mine")), since(table, level)))

  test("serializable refuses to overwrite rows that were added meanwhile, and names the file") {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      val error = intercept[ValidationFailed](overwriteA(read, IsolationLevel.Serializable))
      assert(error.getMessage.contains("added theirs") && error.getMessage.contains("category = 'a'"))
    }
  }

  test("snapshot isolation bears rows that were added meanwhile") {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      assert(liveFiles(overwriteA(read, IsolationLevel.Snapshot)) == Vector("b1", "mine"))
    }
  }

  test("both refuse where rows were removed meanwhile") {
    IsolationLevel.all.foreach { level =>
      withTable { read =>
        commit(read, new DeleteFiles(category("a")))
        val error = intercept[ValidationFailed](overwriteA(read, level))
        assert(error.getMessage.contains("removed a1"))
      }
    }
  }

  test("commits to other partitions do not matter") {
    withTable { read =>
      val theirs = commit(read, new FastAppend(Vector(fileOf("b", "theirs"))))
      commit(theirs, new ReplacePartitions(Vector(fileOf("c", "c1"))))
      assert(liveFiles(overwriteA(read, IsolationLevel.Serializable)) == Vector("b1", "c1", "mine", "theirs"))
    }
  }

  test("replaced partitions are guarded as well") {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      val action = new ReplacePartitions(Vector(fileOf("a", "mine")), since(read, IsolationLevel.Serializable))
      intercept[ValidationFailed](commit(read, action))
      val other = new ReplacePartitions(Vector(fileOf("b", "mine")), since(read, IsolationLevel.Serializable))
      assert(liveFiles(commit(read, other)) == Vector("a1", "mine", "theirs"))
    }
  }

  test("without isolation the last writer wins") {
    withTable { read =>
      commit(read, new FastAppend(Vector(fileOf("a", "theirs"))))
      val table = commit(read, new OverwriteFiles(category("a"), Vector(fileOf("a", "mine"))))
      assert(liveFiles(table) == Vector("b1", "mine"))
    }
  }

  test("a snapshot that is not in the branch's history cannot be the start") {
    withTable { read =>
      val action = new DeleteFiles(category("a"), Some(Isolation(IsolationLevel.Snapshot, Some(42))))
      assert(intercept[ValidationFailed](commit(read, action)).getMessage.contains("since snapshot 42"))
    }
  }
}
