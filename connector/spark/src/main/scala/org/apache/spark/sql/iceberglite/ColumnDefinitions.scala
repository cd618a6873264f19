package org.apache.spark.sql.iceberglite

import org.apache.spark.sql.catalyst.util.GeneratedColumn
import org.apache.spark.sql.connector.catalog.{CatalogV2Util, Column}
import org.apache.spark.sql.types.{MetadataBuilder, StructType}

/** Converts the column definitions of CREATE TABLE, which Spark's own conversion does not keep completely. */
object ColumnDefinitions {

  /** Returns the columns as a schema whose fields contain the expressions of generated columns as Spark's metadata. */
  def schemaOf(columns: Array[Column]): StructType =
    StructType(CatalogV2Util.v2ColumnsToStructType(columns).fields.zip(columns).map { case (field, column) =>
      Option(column.generationExpression).fold(field) { expression =>
        val metadata = new MetadataBuilder().withMetadata(field.metadata)
          .putString(GeneratedColumn.GENERATION_EXPRESSION_METADATA_KEY, expression).build()
        field.copy(metadata = metadata)
      }
    })
}
