package iceberglite.spark.read

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.SparkSession

import iceberglite.io.HadoopFileIO
import iceberglite.table.Table

private[spark] object TableStorage {

  /** How the files of a table are reached: as its catalog says, which may have settings of its own. */
  def configuration(table: Table, session: SparkSession): Configuration = table.io match {
    case io: HadoopFileIO => new Configuration(io.configuration)
    case _ => session.sessionState.newHadoopConf()
  }
}
