package org.apache.spark.sql.iceberglite

import org.apache.spark.sql.catalyst.analysis.{
  Analyzer,
  EmptyTableFunctionRegistry,
  FakeV2SessionCatalog,
  FunctionRegistry
}
import org.apache.spark.sql.catalyst.catalog.{CatalogDatabase, InMemoryCatalog, SessionCatalog}
import org.apache.spark.sql.connector.catalog.CatalogManager

/** Resolves plans with the built-in functions of Spark, without the catalogs and the functions of the session. */
object BuiltInAnalyzer
    extends Analyzer(new CatalogManager(
      FakeV2SessionCatalog,
      new SessionCatalog(new InMemoryCatalog, FunctionRegistry.builtin, EmptyTableFunctionRegistry) {
        override def createDatabase(database: CatalogDatabase, ignoreIfExists: Boolean): Unit = ()
      }
    ))
