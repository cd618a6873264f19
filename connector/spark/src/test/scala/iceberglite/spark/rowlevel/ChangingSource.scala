package iceberglite.spark.rowlevel

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.sources.{BaseRelation, RelationProvider, TableScan}
import org.apache.spark.sql.types.{LongType, StructField, StructType}
import org.apache.spark.sql.{Row, SQLContext}

/** A source that can return other rows when it is read again, like a database. */
final class ChangingSource extends RelationProvider {
  override def createRelation(context: SQLContext, parameters: Map[String, String]): BaseRelation =
    new BaseRelation with TableScan {
      override def sqlContext: SQLContext = context
      override def schema: StructType = StructType(Seq(StructField("id", LongType)))
      override def buildScan(): RDD[Row] =
        context.sparkContext.parallelize(Seq(()), 1).flatMap(_ => ChangingSource.rows().map(id => Row(id.orNull)))
    }
}

object ChangingSource {

  /** Returns the ids of the rows of a scan; `None` is a null id. */
  @volatile var rows: () => Seq[Option[Long]] = () => Nil
}
