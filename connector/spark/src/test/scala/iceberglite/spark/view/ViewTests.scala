package iceberglite.spark.view

import org.apache.spark.sql.AnalysisException
import org.scalatest.Suite

import iceberglite.catalog.ViewCatalog
import iceberglite.spark.SharedSession
import iceberglite.spark.session.LiteCatalog
import iceberglite.spec.view.ViewMetadata
import iceberglite.table.TableIdentifier

/** A suite with views in the catalogs `lite` (file system) and `litejdbc` (JDBC), and a table in each of them. */
trait ViewTests extends SharedSession { self: Suite =>
  protected val catalogs: Seq[String] = Seq("lite", "litejdbc")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    catalogs.foreach { c =>
      sql(s"CREATE TABLE $c.$ns.items (id INT COMMENT 'key', name STRING, price DOUBLE) USING iceberg")
      sql(s"INSERT INTO $c.$ns.items VALUES (1, 'a', 1.5), (2, 'b', 2.5), (3, 'b', 3.5)")
    }
  }

  override protected def afterAll(): Unit = {
    catalogs.foreach { c =>
      val views = rows(s"SHOW VIEWS IN $c.$ns").filterNot(_.getBoolean(2)).map(_.getString(1))
      views.foreach(view => sql(s"DROP VIEW $c.$ns.`$view`"))
    }
    super.afterAll()
  }

  protected def newView(catalog: String): String = newTable("v", catalog)

  /** Runs the body with the catalog and the suite's namespace as the current ones. */
  protected def inNamespace[A](catalog: String)(body: => A): A = {
    sql(s"USE $catalog.$ns")
    try body
    finally sql("USE spark_catalog.default")
  }

  protected def viewCatalog(catalog: String): ViewCatalog =
    spark.sessionState.catalogManager.catalog(catalog) match {
      case lite: LiteCatalog => lite.viewCatalog.getOrElse(fail(s"$catalog does not support views"))
      case other => fail(s"$other is not an iceberg-lite catalog")
    }

  protected def metadata(view: String): ViewMetadata = {
    val Array(catalog, namespace, name) = view.split('.')
    viewCatalog(catalog).loadView(TableIdentifier(Vector(namespace), name)).metadata
  }

  /** Returns the name of the error condition (in Spark 3.5 the error class) with which a statement fails. */
  protected def condition(statement: String): String =
    intercept[AnalysisException](sql(statement).collect()).getErrorClass
}
