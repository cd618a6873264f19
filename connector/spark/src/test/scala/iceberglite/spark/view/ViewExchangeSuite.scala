package iceberglite.spark.view

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite
import org.scalatest.tags.Slow

import iceberglite.servers.Servers
import iceberglite.spark.{SharedSession, SparkCatalog}

/**
 * Checks that this connector and Apache Iceberg read and replace each other's views in JDBC, REST and Hive catalogs.
 * Each catalog of this connector, such as `litehive`, has a catalog of Apache Iceberg on the same storage, such as
 * `icehive`.
 */
@Slow
class ViewExchangeSuite extends AnyFunSuite with ViewTests {
  private val onServers = Seq("literest", "litehive")
  override protected val catalogs: Seq[String] = "litejdbc" +: onServers

  private lazy val settings: Map[String, String] = {
    val rest = Seq("type" -> "rest", "uri" -> Servers.rest.uri)
    val hive = Seq("type" -> "hive", "uri" -> Servers.hive.uri, "warehouse" -> Servers.hive.warehouse)
    Map("literest" -> rest, "litehive" -> hive).flatMap { case (name, entries) =>
      SharedSession.catalogConf(name, classOf[SparkCatalog].getName, entries: _*) ++
        SharedSession.catalogConf(
          inApacheIceberg(name),
          SharedSession.PeerCatalog,
          entries :+ ("cache-enabled" -> "false"): _*
        )
    }
  }

  override protected def beforeAll(): Unit = {
    settings.foreach { case (key, value) => spark.conf.set(key, value) }
    onServers.foreach(c => sql(s"CREATE NAMESPACE $c.$ns"))
    super.beforeAll()
  }

  override protected def afterAll(): Unit = {
    super.afterAll()
    onServers.foreach { c =>
      sql(s"DROP TABLE $c.$ns.items PURGE")
      sql(s"DROP NAMESPACE $c.$ns")
    }
    settings.keys.foreach(spark.conf.unset)
  }

  private def onEach(name: String)(body: String => Unit): Unit = catalogs.foreach(c => test(s"$name ($c)")(body(c)))

  private def columns(view: String): Seq[String] =
    spark.table(view).schema.map(f => s"${f.name} ${f.dataType.sql} ${f.nullable} ${f.getComment()}")

  private def assertEqual(view: String, expected: Seq[Row]): Unit = Seq(view, inApacheIceberg(view)).foreach { name =>
    assert(rows(s"SELECT * FROM $name") == expected, name)
    assert(columns(name) == columns(view), name)
  }

  private val query = s"SELECT id, upper(name), price AS p FROM items WHERE id < 3 ORDER BY id"
  private val expected = Seq(Row(1, "A", 1.5), Row(2, "B", 2.5))

  onEach("Apache Iceberg reads a view of this connector, and this connector reads a view of Apache Iceberg") { c =>
    Seq(c, inApacheIceberg(c)).foreach { creator =>
      val view = newView(c)
      val created = creator + view.stripPrefix(c)
      inNamespace(creator) {
        sql(s"CREATE VIEW $created (k COMMENT 'key', n, p) COMMENT 'c' TBLPROPERTIES ('a' = 'b') AS $query")
      }
      assertEqual(view, expected)
      Seq(view, inApacheIceberg(view)).foreach { name =>
        val properties = rows(s"SHOW TBLPROPERTIES $name").map(r => r.getString(0) -> r.getString(1)).toMap
        assert(properties("a") == "b", name)
        // Apache Iceberg shows an empty text for a missing comment.
        val described = rows(s"DESCRIBE $name").take(3).map(_.toSeq.map(v => Option(v).fold("")(_.toString)))
        assert(described == Seq(Seq("k", "int", "key"), Seq("n", "string", ""), Seq("p", "double", "")), name)
      }
    }
  }

  onEach("both connectors replace a view in turn, and each reads all versions of the other") { c =>
    val view = newView(c)
    inNamespace(c)(sql(s"CREATE VIEW $view AS SELECT count(*) AS n FROM items"))
    inNamespace(inApacheIceberg(c))(
      sql(s"CREATE OR REPLACE VIEW ${inApacheIceberg(view)} (a, b) AS SELECT id, name FROM items WHERE id = 1")
    )
    assertEqual(view, Seq(Row(1, "a")))
    inNamespace(c)(sql(s"ALTER VIEW $view AS SELECT max(id) FROM items"))
    assertEqual(view, Seq(Row(3)))
    assert(metadata(view).versions.map(_.versionId) == Vector(1, 2, 3))
    assert(rows(s"CALL $c.system.rollback_view('$ns.${view.split('.').last}', 1)") == Seq(Row(3, 1)))
    assertEqual(view, Seq(Row(3L)))
    sql(s"DROP VIEW ${inApacheIceberg(view)}")
    assert(condition(s"SELECT * FROM $view") == "TABLE_OR_VIEW_NOT_FOUND")
  }

  onEach("both connectors read each other's views whose column names Spark generates") { c =>
    val (own, other) = (newView(c), newView(c))
    inNamespace(c)(sql(s"CREATE VIEW $own AS SELECT max(id), min(name) FROM items"))
    inNamespace(inApacheIceberg(c))(
      sql(s"CREATE VIEW ${inApacheIceberg(other)} AS SELECT max(id), min(name) FROM items")
    )
    Seq(own, other).foreach(assertEqual(_, Seq(Row(3, "a"))))
  }

  onEach("both connectors read each other's views whose column names contain commas") { c =>
    val (own, other) = (newView(c), newView(c))
    inNamespace(c)(sql(s"CREATE VIEW $own AS SELECT coalesce(id, 1), name FROM items WHERE id = 2"))
    inNamespace(inApacheIceberg(c))(
      sql(s"CREATE VIEW ${inApacheIceberg(other)} AS SELECT coalesce(id, 1), name FROM items WHERE id = 2")
    )
    Seq(own, other).foreach(assertEqual(_, Seq(Row(2, "b"))))
  }

  onEach("after a rollback to a version of Apache Iceberg, both connectors read the columns of that version") { c =>
    val view = newView(c)
    inNamespace(inApacheIceberg(c))(
      sql(s"CREATE VIEW ${inApacheIceberg(view)} (k, n) AS SELECT id, name FROM items WHERE id = 1")
    )
    inNamespace(c)(sql(s"CREATE OR REPLACE VIEW $view (n, k) AS SELECT name, price FROM items WHERE id = 2"))
    assertEqual(view, Seq(Row("b", 2.5)))
    sql(s"CALL $c.system.rollback_view('$ns.${view.split('.').last}', 1)")
    assertEqual(view, Seq(Row(1, "a")))
    sql(s"CALL $c.system.rollback_view('$ns.${view.split('.').last}', 2)")
    assertEqual(view, Seq(Row("b", 2.5)))
  }

  onEach("SHOW VIEWS returns the same views in both connectors") { c =>
    val view = newView(c)
    sql(s"CREATE VIEW $view AS SELECT 1 AS a")
    def shown(catalog: String): Seq[Row] = rows(s"SHOW VIEWS IN $catalog.$ns").sortBy(_.getString(1))
    assert(shown(c) == shown(inApacheIceberg(c)) && shown(c).exists(_.getString(1) == view.split('.').last))
  }
}
