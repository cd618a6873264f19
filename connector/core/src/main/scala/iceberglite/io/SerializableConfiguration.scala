package iceberglite.io

import java.io.{ObjectInputStream, ObjectOutputStream}

import org.apache.hadoop.conf.Configuration

/** A Hadoop configuration that travels to tasks: Hadoop's own writes itself, but is not `Serializable`. */
final class SerializableConfiguration(@transient private var configuration: Configuration) extends Serializable {

  /** The configuration; whoever changes it changes it for everyone who has it. */
  def value: Configuration = configuration

  private def writeObject(out: ObjectOutputStream): Unit = {
    out.defaultWriteObject()
    configuration.write(out)
  }

  private def readObject(in: ObjectInputStream): Unit = {
    in.defaultReadObject()
    configuration = new Configuration(false)
    configuration.readFields(in)
  }
}
