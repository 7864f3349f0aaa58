use super::Answer;
